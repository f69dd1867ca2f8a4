#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A SLURM of Debian's packages on one machine, to try a campaign on a farm; as root. Not for production: no accounting, no cgroups.
#
#     apt-get install --no-install-recommends slurmctld slurmd slurm-client munge
#     examples/farm/slurm-on-one-machine.sh start FOLDER     # says what to export
#     examples/farm/slurm-on-one-machine.sh stop FOLDER
set -euo pipefail
action=${1:?start or stop} folder=$(realpath -m "${2:?folder}") name=$(hostname -s)

case $action in
start)
  mkdir -p "$folder/state" "$folder/spool"
  cat > "$folder/slurm.conf" <<CONF
ClusterName=try
SlurmctldHost=$name(127.0.0.1)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
KillWait=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=$name NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(awk '/MemTotal/ { print int($2 / 1024 * 0.8) }' /proc/meminfo)
PartitionName=debug Nodes=$name Default=YES State=UP
CONF
  export SLURM_CONF=$folder/slurm.conf
  install -d -o munge -g munge -m 755 /run/munge
  runuser -u munge -- munged --pid-file=/run/munge/munged.pid || true
  slurmctld -f "$SLURM_CONF"
  slurmd -f "$SLURM_CONF" -N "$name"
  echo "export SLURM_CONF=$SLURM_CONF"
  ;;
stop)
  for daemon in slurmd slurmctld; do
    [[ -f $folder/$daemon.pid ]] && kill "$(cat "$folder/$daemon.pid")" || true
  done
  [[ -f /run/munge/munged.pid ]] && kill "$(cat /run/munge/munged.pid)" || true
  ;;
*)
  echo "expected start or stop, found $action" >&2
  exit 2
  ;;
esac
