// SPDX-License-Identifier: Apache-2.0
// Makes the tables and pictures of a report answer: filter registers, walk down the hierarchy, move along the front.
// Without it the page shows the same figures as tables; it loads nothing and changes nothing on disk.
(async () => {
  'use strict';
  const holder = document.getElementById('page-data');
  if (!holder || typeof DecompressionStream === 'undefined') return;
  const bytes = Uint8Array.from(atob(holder.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const data = await new Response(stream).json();
  const byId = (id) => document.getElementById(id);
  const SVG = 'http://www.w3.org/2000/svg';

  // --- words and figures, as the rest of the page writes them ---
  const SUPER = '⁰¹²³⁴⁵⁶⁷⁸⁹';
  const power = (n) => (n < 0 ? '⁻' : '') + [...String(Math.abs(n))].map((d) => SUPER[+d]).join('');
  const count = (n) => n.toLocaleString('en-US');
  function fit(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return 'n/a';
    if (value === 0) return '0';
    const rounded = Number(value.toPrecision(3));
    if (rounded >= 1e-3 && 1e6 > rounded) {
      const decimals = Math.max(0, 2 - Math.floor(Math.log10(rounded)));
      return rounded.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    }
    const [mantissa, exponent] = value.toExponential(2).split('e');
    return mantissa + '×10' + power(Number(exponent));
  }
  const percent = (p) => (p === null ? 'n/a' : (100 * p).toPrecision(3) + ' %');
  const range = (lo, hi) => '[' + fit(lo) + ', ' + fit(hi) + ']';

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }
  function draw(parent, name, attributes, title) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (title) {
      const tip = document.createElementNS(SVG, 'title');
      tip.textContent = title;
      element.append(tip);
    }
    parent.append(element);
    return element;
  }
  function picture(width, height, label, role) {
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
    svg.setAttribute('class', 'figure made');
    svg.setAttribute('role', role || 'img');
    svg.setAttribute('aria-label', label);
    return svg;
  }
  function cut(text, width) {
    const room = Math.floor(width / 6.6);
    return text.length > room ? text.slice(0, Math.max(0, room - 1)) + '…' : text;
  }

  // --- exact limits of a proportion (Clopper and Pearson, 1934), by bisection of the incomplete beta function ---
  function logGamma(x) {
    const c = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2, -0.5395239384953e-5];
    let y = x;
    let sum = 1.000000000190015;
    const t = x + 5.5 - (x + 0.5) * Math.log(x + 5.5);
    for (const own of c) sum += own / ++y;
    return -t + Math.log((2.5066282746310005 * sum) / x);
  }
  function betaPart(x, a, b) {
    if (0 >= x) return 0;
    if (x >= 1) return 1;
    const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
    if (x > (a + 1) / (a + b + 2)) return 1 - betaPart(1 - x, b, a);
    let c = 1;
    let d = 1 / Math.max(1e-300, 1 - ((a + b) * x) / (a + 1));
    let h = d;
    for (let m = 1; 300 > m; m++) {
      let term = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / (1 + term * d);
      c = 1 + term / c;
      h *= d * c;
      term = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / (1 + term * d);
      c = 1 + term / c;
      const step = d * c;
      h *= step;
      if (1e-12 > Math.abs(step - 1)) break;
    }
    return (front * h) / a;
  }
  function quantile(p, a, b) {
    let lo = 0;
    let hi = 1;
    for (let i = 0; 50 > i; i++) {
      const middle = (lo + hi) / 2;
      if (betaPart(middle, a, b) > p) hi = middle;
      else lo = middle;
    }
    return (lo + hi) / 2;
  }
  function limits(events, trials, confidence) {
    const tail = (1 - confidence) / 2;
    if (!trials) return [0, 1];
    const lo = events ? quantile(tail, events, trials - events + 1) : 0;
    const hi = trials > events ? quantile(1 - tail, events + 1, trials - events) : 1;
    return [lo, hi];
  }
  const shade = (value, top) => {
    if (!(value > 0) || !(top > 0)) return 0;
    return Math.max(1, 6 - Math.floor(-Math.log10(value / top) * 2));
  };

  const detail = data.detail;
  const views = [...(detail ? [registers, hierarchy, timeline, memories] : []), ...(data.front.length ? [front] : [])];
  for (const view of views) {
    try {
      view();
    } catch (error) {
      console.error(view.name, error); // the others go on, and the tables of this one are there
    }
  }
  document.documentElement.classList.add('alive');
  window.addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((own) => own.setAttribute('open', '')));

  // --- registers: search, filter, sort ---
  function registers() {
    const body = byId('register-rows');
    const rows = detail.registers;
    const form = byId('register-filter');
    if (!body || !form) return;
    const status = byId('register-status');
    const more = byId('register-more');
    const names = (key) => [...new Set(rows.map((row) => row[key]))].sort();
    for (const key of ['block', 'register_class', 'kind'])
      for (const name of names(key)) form.elements[key].append(make('option', { value: name }, name));
    let shown = 50;
    let order = 'fit';
    let down = true;
    const named = rows.some((row) => row.rtl_register);
    const value = (row, key) => (row[key] === null ? -1 : row[key]);
    function chosen() {
      const text = form.elements.q.value.trim().toLowerCase();
      const outcome = form.elements.outcome.value;
      return rows.filter(
        (row) =>
          (!text || (row.path + ' ' + row.rtl_register).toLowerCase().includes(text)) &&
          ['block', 'register_class', 'kind'].every((key) => !form.elements[key].value || row[key] === form.elements[key].value) &&
          (!outcome || row[outcome] > 0),
      );
    }
    function cells(row) {
      const counts = data.outcomes.map(([key, title]) => [title, count(row[key]), row[key] ? '' : 'zero']);
      return [
        ...(named ? [['in the RTL', row.rtl_register, 'text']] : []),
        ['block', row.block, 'text'],
        ['class', row.register_class, 'text'],
        ['bits', count(row.bits), ''],
        ['injections', count(row.injections), ''],
        ...counts,
        ['raw FIT', fit(row.fit_raw), ''],
        ['FIT', null, ''],
        ['FIT, shrunk', fit(row.fit_shrunk), ''],
      ];
    }
    function line(row) {
      const tr = make('tr', {}, make('th', { scope: 'row', class: 'name path' }, row.path));
      for (const [label, text, css] of cells(row)) {
        const td = make('td', { 'data-label': label, class: css });
        if (text === null)
          td.append(make('span', { class: 'num strong' }, fit(row.fit) + ' ', make('span', { class: 'range' }, range(row.fit_lo, row.fit_hi))));
        else td.append(text);
        tr.append(td);
      }
      return tr;
    }
    function show() {
      const found = chosen();
      const sign = down ? -1 : 1;
      found.sort((a, b) => {
        const [one, other] = [value(a, order), value(b, order)];
        if (one === other) return a.path > b.path ? 1 : -1;
        return one > other ? sign : -sign;
      });
      body.replaceChildren(...found.slice(0, shown).map(line));
      const sum = found.reduce((total, row) => total + (row.fit || 0), 0);
      const part = found.length === rows.length ? '' : ' of ' + count(rows.length);
      const missed = found.filter((row) => row.fit === null).length;
      const unknown = missed ? '; ' + count(missed) + ' of them were not hit and have none' : '';
      status.textContent = count(found.length) + part + ' registers and memories; their estimates add up to ' + fit(sum) + ' FIT' + unknown + '.';
      more.hidden = shown >= found.length;
      for (const head of document.querySelectorAll('#register-table th[data-sort]'))
        head.setAttribute('aria-sort', head.dataset.sort === order ? (down ? 'descending' : 'ascending') : 'none');
    }
    for (const head of document.querySelectorAll('#register-table th[data-sort]')) {
      const button = make('button', { type: 'button', class: 'sort' }, ...head.childNodes);
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        down = head.dataset.sort === order ? !down : head.dataset.sort !== 'path';
        order = head.dataset.sort;
        show();
      });
    }
    const reset = () => {
      shown = 50;
      show();
    };
    form.addEventListener('input', reset);
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('reset', () => setTimeout(reset));
    more.addEventListener('click', () => {
      shown += 200;
      show();
    });
    form.hidden = false;
    show();
  }

  // --- hierarchy: a treemap that one walks down ---
  function tree() {
    const root = { name: data.top || 'design', path: '', children: new Map(), rows: [] };
    const blockBits = {};
    for (const row of detail.registers) blockBits[row.block] = (blockBits[row.block] || 0) + row.bits;
    for (const row of detail.registers) {
      const area = blockBits[row.block] ? ((data.areas[row.block] || 0) * row.bits) / blockBits[row.block] : 0;
      let node = root;
      const steps = row.path.split('.');
      steps.forEach((step, place) => {
        node.rows.push([row, area]);
        if (!node.children.has(step))
          node.children.set(step, { name: step, path: steps.slice(0, place + 1).join('.'), children: new Map(), rows: [], up: node });
        node = node.children.get(step);
      });
      node.rows.push([row, area]);
    }
    return root;
  }
  function known(node) {
    const parts = {};
    const sum = { bits: 0, area: 0, injections: 0, hazardous: 0, fit: 0, raw: 0 };
    for (const [row, area] of node.rows) {
      sum.bits += row.bits;
      sum.area += area;
      sum.injections += row.injections;
      sum.hazardous += row.hazardous;
      sum.fit += row.fit || 0;
      sum.raw += row.fit_raw;
      const key = row.block + ' ' + row.kind;
      const own = (parts[key] = parts[key] || { n: 0, k: 0, raw: 0 });
      own.n += row.injections;
      own.k += row.hazardous;
      own.raw += row.fit_raw;
    }
    // Sum of independent proportions: limits by the method of variance estimates recovery (Zou and Donner, 2008).
    let [below, above, total] = [0, 0, 0];
    for (const own of Object.values(parts)) {
      const p = own.n ? own.k / own.n : 0;
      const [lo, hi] = limits(own.k, own.n, detail.confidence);
      total += own.raw * p;
      below += (own.raw * (p - lo)) ** 2;
      above += (own.raw * (hi - p)) ** 2;
    }
    if (detail.even) sum.fit = total;
    sum.lo = Math.max(0, total - Math.sqrt(below));
    sum.hi = Math.min(sum.raw, total + Math.sqrt(above));
    return sum;
  }
  function squarify(items, x, y, width, height) {
    const placed = [];
    let rest = items.filter((item) => item.size > 0).sort((a, b) => b.size - a.size);
    let left = rest.reduce((sum, item) => sum + item.size, 0);
    while (rest.length && left > 0) {
      const side = Math.min(width, height);
      const scale = (width * height) / left;
      let row = [];
      let best = Infinity;
      let used = 0;
      for (const item of rest) {
        const sum = used + item.size;
        const sizes = [...row, item].map((own) => own.size * scale);
        const thick = (sum * scale) / side;
        const worst = Math.max(...sizes.map((own) => Math.max(own / thick ** 2, thick ** 2 / own)));
        if (worst > best) break;
        best = worst;
        row = [...row, item];
        used = sum;
      }
      const thick = (used * scale) / side;
      let at = 0;
      for (const item of row) {
        const long = (item.size * scale) / thick;
        placed.push(height > width ? { item, x: x + at, y, width: long, height: thick } : { item, x, y: y + at, width: thick, height: long });
        at += long;
      }
      if (height > width) [y, height] = [y + thick, height - thick];
      else [x, width] = [x + thick, width - thick];
      left -= used;
      rest = rest.slice(row.length);
    }
    return placed;
  }
  function hierarchy() {
    const place = byId('treemap');
    if (!place) return;
    const root = tree();
    let node = root;
    let size = 'bits';
    const crumbs = make('nav', { 'aria-label': 'Place in the hierarchy', class: 'crumbs' });
    const controls = make('form', { class: 'controls' });
    const select = make('select', { name: 'size' }, make('option', { value: 'bits' }, 'bits'), make('option', { value: 'area' }, 'area'));
    controls.append(make('label', {}, 'Size of a tile: ', select));
    const canvas = make('div', {});
    const said = make('p', { class: 'note', role: 'status' });
    place.replaceChildren(controls, crumbs, canvas, said);
    select.addEventListener('change', () => {
      size = select.value;
      show();
    });
    function words(own) {
      const all = known(own);
      const text = count(all.bits) + ' bits, ' + count(all.hazardous) + ' of ' + count(all.injections) + ' injections hazardous, ' + fit(all.fit) + ' FIT';
      return detail.even ? text + ' ' + range(all.lo, all.hi) : text;
    }
    function alone(own) {
      let found = own;
      while (found.children.size === 1 && !found.rows.some(([row]) => row.path === found.path)) found = [...found.children.values()][0];
      return found;
    }
    function go(to, focus) {
      node = alone(to);
      show();
      if (focus) (canvas.querySelector('[role=button]') || crumbs.querySelector('button')).focus();
    }
    function show() {
      const trail = [];
      for (let own = node; own; own = own.up) trail.unshift(own);
      crumbs.replaceChildren(
        ...trail.map((own) => {
          const button = make('button', { type: 'button' }, own.name);
          if (own === node) button.setAttribute('aria-current', 'location');
          button.addEventListener('click', () => go(own, false));
          return button;
        }),
      );
      const wide = place.clientWidth > 560;
      const [width, height] = wide ? [1080, 420] : [360, 420];
      const svg = picture(width, height, 'Treemap of ' + (node.path || root.name), 'group');
      const items = [...node.children.values()].map((own) => ({ node: own, all: known(own) }));
      for (const item of items) item.size = item.all[size];
      const density = (all) => (all.bits ? all.fit / all.bits : 0);
      const top = Math.max(...detail.registers.map((row) => (row.fit || 0) / Math.max(1, row.bits)));
      for (const spot of squarify(items, 0, 0, width, height)) {
        const own = spot.item.node;
        const inner = alone(own);
        const deeper = inner.children.size > 0;
        const label = own.name + ': ' + words(own) + (deeper ? '; open' : '');
        const group = draw(svg, 'g', deeper ? { tabindex: 0, role: 'button', 'aria-label': label, class: 'tile-cell open' } : { role: 'img', 'aria-label': label, class: 'tile-cell' });
        draw(group, 'rect', { x: spot.x + 1, y: spot.y + 1, width: Math.max(0, spot.width - 2), height: Math.max(0, spot.height - 2), class: 'heat-' + shade(density(spot.item.all), top), rx: 2 }, label);
        if (spot.width > 34 && spot.height > 18) {
          const dark = shade(density(spot.item.all), top) > 3 ? ' light' : '';
          draw(group, 'text', { x: spot.x + 6, y: spot.y + 15, class: 'small strong' + dark, 'aria-hidden': 'true' }).textContent = cut(own.name, spot.width - 10);
          if (spot.height > 34 && spot.width > 60)
            draw(group, 'text', { x: spot.x + 6, y: spot.y + 29, class: 'small' + dark, 'aria-hidden': 'true' }).textContent = cut(fit(spot.item.all.fit) + ' FIT', spot.width - 10);
        }
        if (deeper) {
          group.addEventListener('click', () => go(own, false));
          group.addEventListener('keydown', (event) => {
            if (event.key === 'Enter' || event.key === ' ') {
              event.preventDefault();
              go(own, true);
            }
          });
        }
      }
      canvas.replaceChildren(svg);
      said.textContent = (node.path || root.name) + ': ' + words(node) + '.';
    }
    go(root, false);
  }

  // --- time: a heat map of cycles by blocks, classes or registers ---
  function timeline() {
    const place = byId('timeline');
    const time = detail.timeline;
    if (!place || !time) return;
    const select = make('select', { name: 'rows' });
    for (const [key, title] of [['block', 'blocks'], ['register_class', 'register classes'], ['path', 'the 30 registers of the largest FIT']])
      select.append(make('option', { value: key }, title));
    const controls = make('form', { class: 'controls' }, make('label', {}, 'Rows: ', select));
    const canvas = make('div', {});
    place.replaceChildren(controls, canvas);
    const cell = (index) => {
      const row = detail.registers[time.row[index]];
      const each = row.injections ? row.fit_raw / row.injections : 0;
      return time.fit.length ? time.fit[index] : time.hazardous[index] * each;
    };
    function show() {
      const key = select.value;
      const names = key === 'path' ? detail.registers.slice(0, 30).map((row) => row.path) : key === 'block' ? detail.blocks : [...new Set(detail.registers.map((row) => row.register_class))].sort();
      const place = new Map(names.map((name, index) => [name, index]));
      const grid = names.map(() => Array.from({ length: time.bins }, () => ({ n: 0, k: 0, fit: 0 })));
      for (let index = 0; time.row.length > index; index++) {
        const at = place.get(detail.registers[time.row[index]][key]);
        if (at === undefined) continue;
        const own = grid[at][time.time[index]];
        own.n += time.injections[index];
        own.k += time.hazardous[index];
        own.fit += cell(index);
      }
      const wide = canvas.clientWidth > 560;
      const width = wide ? 1080 : 360;
      const left = key === 'path' ? (wide ? 330 : 130) : wide ? 130 : 90;
      const line = 18;
      const head = 26;
      const svg = picture(width, head + line * names.length + 36, 'Hazardous FIT by cycle and ' + select.selectedOptions[0].textContent);
      const step = (width - left - 6) / time.bins;
      const top = Math.max(...grid.flat().map((own) => own.fit));
      time.operations.forEach((own, index) => {
        const x = left + ((width - left - 6) * own.start) / time.cycles;
        const span = ((width - left - 6) * (own.end - own.start)) / time.cycles;
        draw(svg, 'rect', { x, y: 2, width: Math.max(1, span - 1), height: head - 6, class: index % 2 ? 'op-b' : 'op-a' }, own.name + ': cycles ' + count(own.start) + ' to ' + count(own.end));
        if (span > 26) draw(svg, 'text', { x: x + 3, y: 16, class: 'small', 'aria-hidden': 'true' }).textContent = cut(own.name, span - 4);
      });
      names.forEach((name, index) => {
        const y = head + line * index;
        const shown = key === 'path' && name.length * 6.6 > left ? '…' + name.slice(-Math.floor(left / 6.9)) : name;
        draw(svg, 'text', { x: left - 6, y: y + 13, 'text-anchor': 'end', class: 'small' }, name).append(shown);
        grid[index].forEach((own, bin) => {
          const [from, to] = [bin, bin + 1].map((edge) => Math.floor((edge * time.cycles) / time.bins));
          let tip = name + ', cycles ' + count(from) + ' to ' + count(to) + ': nothing injected';
          if (own.n) {
            const [lo, hi] = limits(own.k, own.n, detail.confidence);
            tip = name + ', cycles ' + count(from) + ' to ' + count(to) + ': ' + own.k + ' of ' + own.n + ' injections hazardous, ' + percent(own.k / own.n) + ' [' + percent(lo) + ', ' + percent(hi) + ']; ' + fit(own.fit) + ' FIT';
          }
          draw(svg, 'rect', { x: left + step * bin, y: y + 1, width: Math.max(0.5, step - 0.5), height: line - 2, class: own.n ? 'heat-' + shade(own.fit, top) : 'heat-none' }, tip);
        });
      });
      const bottom = head + line * names.length;
      for (let part = 0; 4 >= part; part++) {
        const anchor = part === 0 ? 'start' : part === 4 ? 'end' : 'middle';
        draw(svg, 'text', { x: left + ((width - left - 6) * part) / 4, y: bottom + 16, 'text-anchor': anchor, class: 'small quiet' }).textContent = count(Math.round((time.cycles * part) / 4));
      }
      draw(svg, 'text', { x: (left + width) / 2, y: bottom + 31, 'text-anchor': 'middle', class: 'small quiet' }).textContent = 'cycle of the fault';
      canvas.replaceChildren(svg);
    }
    select.addEventListener('change', show);
    show();
  }

  // --- memories: address by operation ---
  function memories() {
    const place = byId('memories');
    if (!place || !detail.memories.length) return;
    const select = make('select', { name: 'memory' });
    detail.memories.forEach((own, index) => select.append(make('option', { value: index }, detail.registers[own.row].path)));
    const canvas = make('div', {});
    place.replaceChildren(make('form', { class: 'controls' }, make('label', {}, 'Memory: ', select)), canvas);
    function show() {
      const own = detail.memories[Number(select.value)];
      const names = detail.operations.map((operation) => operation.name);
      const wide = canvas.clientWidth > 560;
      const width = wide ? 1080 : 360;
      const left = wide ? 200 : 110;
      const line = 18;
      const svg = picture(width, line * names.length + 40, 'Injections into ' + detail.registers[own.row].path + ' by operation and address');
      const step = (width - left - 6) / own.bins;
      const cells = new Map();
      own.address.forEach((address, index) => cells.set(own.operation[index] * own.bins + address, index));
      names.forEach((name, row) => {
        draw(svg, 'text', { x: left - 6, y: line * row + 13, 'text-anchor': 'end', class: 'small' }, name).append(cut(name, left - 10));
        for (let bin = 0; own.bins > bin; bin++) {
          const index = cells.get(row * own.bins + bin);
          const [from, to] = [bin, bin + 1].map((edge) => Math.ceil((edge * own.words) / own.bins));
          let [css, tip] = ['heat-none', name + ', words ' + from + ' to ' + (to - 1) + ': nothing injected'];
          if (index !== undefined) {
            const [k, n] = [own.hazardous[index], own.injections[index]];
            const [lo, hi] = limits(k, n, detail.confidence);
            css = k ? 'heat-' + Math.max(1, Math.min(6, Math.ceil((6 * k) / n))) : 'heat-0';
            tip = name + ', words ' + from + ' to ' + (to - 1) + ': ' + k + ' of ' + n + ' injections hazardous, ' + percent(k / n) + ' [' + percent(lo) + ', ' + percent(hi) + ']';
          }
          draw(svg, 'rect', { x: left + step * bin, y: line * row + 1, width: Math.max(0.5, step - 0.5), height: line - 2, class: css }, tip);
        }
      });
      const bottom = line * names.length;
      draw(svg, 'text', { x: left, y: bottom + 16, class: 'small quiet' }).textContent = 'word 0';
      draw(svg, 'text', { x: width - 6, y: bottom + 16, 'text-anchor': 'end', class: 'small quiet' }).textContent = 'word ' + count(own.words - 1);
      canvas.replaceChildren(svg);
    }
    select.addEventListener('change', show);
    show();
  }

  // --- the front: a point that one moves ---
  function front() {
    const panel = byId('front-panel');
    const slider = byId('front-point');
    if (!panel || !slider) return;
    const points = data.front;
    slider.max = points.length - 1;
    let start = points.findIndex((point) => point.chosen);
    slider.value = 0 > start ? 0 : start;
    function show() {
      const point = points[Number(slider.value)];
      slider.setAttribute('aria-valuetext', point.area + ', ' + point.left);
      byId('front-area').textContent = point.area;
      byId('front-left').textContent = point.left;
      byId('front-rows').replaceChildren(...point.rows.map(([held, text]) => make('li', { class: held ? 'held' : 'open-row' }, (held ? '✓ ' : '✕ ') + text)));
      const empty = point.set.length ? [] : [make('li', {}, 'nothing is protected')];
      byId('front-set').replaceChildren(...empty, ...point.set.map(([block, option]) => make('li', {}, make('b', {}, block), ': ' + option)));
      const measured = byId('front-measured');
      measured.hidden = !point.measured;
      measured.querySelector('dd').textContent = point.measured;
      const most = Math.max(...point.blocks.map((row) => row[3]), 1e-300);
      byId('front-blocks').replaceChildren(
        ...point.blocks.map(([block, before, after, high, low]) => {
          const bars = picture(120, 18, 'Bound of ' + block + ' before and after');
          draw(bars, 'rect', { x: 0, y: 2, width: (118 * high) / most, height: 6, class: 'front-before' });
          draw(bars, 'rect', { x: 0, y: 10, width: (118 * low) / most, height: 6, class: 'front-after' });
          return make('tr', {}, make('th', { scope: 'row', class: 'name' }, block), make('td', { 'data-label': 'before' }, before), make('td', { 'data-label': 'after' }, after), make('td', { 'data-label': 'bounds', class: 'text' }, bars));
        }),
      );
      for (const plane of document.querySelectorAll('.front-plane')) {
        const at = plane.dataset;
        const x = Number(at.x0) + Math.min(1, point.overhead / Number(at.xtop)) * (Number(at.x1) - Number(at.x0));
        const share = (Math.log10(Math.max(point.fit_hi, 1e-300)) - Number(at.low)) / (Number(at.high) - Number(at.low));
        const y = Number(at.y0) + Math.max(0, Math.min(1, share)) * (Number(at.y1) - Number(at.y0));
        plane.replaceChildren();
        draw(plane, 'circle', { cx: x, cy: y, r: 9, class: 'moved' });
      }
    }
    slider.addEventListener('input', show);
    panel.hidden = false;
    show();
  }
})();
