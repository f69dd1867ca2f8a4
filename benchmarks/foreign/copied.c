// SPDX-License-Identifier: Apache-2.0
// The system function $resil_copy of Icarus Verilog: the simulation goes on in a copy of the process, to its end.
// It is 0 in the copy, and 1 in the original, which waits for the copy first.

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vpi_user.h>

enum { FILES = 256 };

static PLI_INT32 copied(PLI_BYTE8 *data) {
    (void)data;
    // What is buffered is written once, and the original reads and writes on where it was before the copy did.
    fflush(NULL);
    off_t places[FILES];
    for (int file = 3; file < FILES; ++file) places[file] = lseek(file, 0, SEEK_CUR);
    pid_t child = fork();
    if (child < 0) {
        vpi_printf("resil: no copy of the process could be made\n");
        vpi_control(vpiFinish, 1);
    }
    if (child > 0) {
        while (waitpid(child, NULL, 0) < 0) {
        }
        for (int file = 3; file < FILES; ++file) {
            if (places[file] >= 0) lseek(file, places[file], SEEK_SET);
        }
    }
    s_vpi_value value = {.format = vpiIntVal, .value = {.integer = child != 0}};
    vpi_put_value(vpi_handle(vpiSysTfCall, NULL), &value, NULL, vpiNoDelay);
    return 0;
}

static PLI_INT32 bits(PLI_BYTE8 *data) {
    (void)data;
    return 32;
}

static void known(void) {
    s_vpi_systf_data function = {vpiSysFunc, vpiSysFuncInt, "$resil_copy", copied, NULL, bits, NULL};
    vpi_register_systf(&function);
}

void (*vlog_startup_routines[])(void) = {known, NULL};
