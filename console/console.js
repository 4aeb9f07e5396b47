'use strict';
/* The console: one page, no framework. Texts from the service go through
 * textContent only. Numbers of answers are texts as the service wrote them. */
(() => {
  const $ = (id) => document.getElementById(id);
  const SVG = 'http://www.w3.org/2000/svg';
  const state = { me: null, sets: [], set: null, sql: '', epsilon: '', delta: '', groups: '', params: '', asked: null };

  /* h('td', {class: 'n'}, 'text', node): elements, never markup */
  function put(e, attrs, kids) {
    for (const [k, v] of Object.entries(attrs || {})) {
      if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
      else if (v === true) e.setAttribute(k, '');
      else if (v !== false && v != null) e.setAttribute(k, v);
    }
    for (const kid of kids.flat(9)) if (kid != null && kid !== false) e.append(kid);
    return e;
  }
  const h = (tag, attrs, ...kids) => put(document.createElement(tag), attrs, kids);
  const s = (tag, attrs, ...kids) => put(document.createElementNS(SVG, tag), attrs, kids);
  const say = (text) => { $('say').textContent = text; };
  const num = (t) => (t == null || t === '' ? NaN : Number(t));
  const short = (x) => {
    const v = Number(x);
    if (!isFinite(v)) return String(x);
    if (v !== 0 && Math.abs(v) < 1e-4) return v.toExponential(2);
    return String(+v.toPrecision(6));
  };
  const grouped = (t) => (/^-?\d{5,}$/.test(t) ? t.replace(/\B(?=(\d{3})+$)/g, '\u2009') : t);
  const when = (t) => (t ? String(t).replace('T', ' ').replace(/\..*|Z$/, '') : '');

  class Problem extends Error {
    constructor(status, e) {
      super((e && e.message) || 'The service did not answer (' + status + ').');
      this.status = status;
      Object.assign(this, { detail: '', hint: '', code: '', position: null }, e || {});
    }
  }

  async function api(path, body) {
    const opt = { headers: { 'X-DPC': '1' }, credentials: 'same-origin', cache: 'no-store' };
    if (body !== undefined) {
      opt.method = 'POST';
      opt.headers['Content-Type'] = 'application/json';
      opt.body = JSON.stringify(body);
    }
    let r;
    try { r = await fetch('/api/v1/' + path, opt); } catch (e) { throw new Problem(0, { message: 'The service cannot be reached.' }); }
    let data = null;
    try { data = await r.json(); } catch (e) { /* below */ }
    if (r.ok && data) return data;
    if (r.status === 401 && path !== 'login' && state.me) { state.me = null; route(); }
    throw new Problem(r.status, data && data.error);
  }
  const ds = (rest) => 'datasets/' + encodeURIComponent(state.set) + '/' + rest;
  const current = () => state.sets.find((d) => d.name === state.set) || {};

  function alertBox(e) {
    return h('div', { class: 'alert', role: 'alert' }, h('strong', null, e.message),
      e.detail && h('span', null, e.detail), e.hint && h('span', null, e.hint));
  }

  /* --- signing in ---------------------------------------------------------- */

  function loginPage() {
    const error = h('div');
    const user = h('input', { id: 'l-user', name: 'user', autocomplete: 'username', required: true, autocapitalize: 'none', spellcheck: 'false' });
    const pass = h('input', { id: 'l-pass', name: 'password', type: 'password', autocomplete: 'current-password', required: true });
    const button = h('button', { type: 'submit', class: 'big' }, 'Sign in');
    const form = h('form', {
      class: 'card login',
      onsubmit: async (ev) => {
        ev.preventDefault();
        button.disabled = true;
        error.replaceChildren();
        try {
          await api('login', { user: user.value, password: pass.value });
          pass.value = '';
          await start();
        } catch (e) {
          error.replaceChildren(alertBox(e));
          pass.focus();
          pass.select();
        }
        button.disabled = false;
      },
    },
    h('h1', null, h('img', { src: '/icon.svg', alt: '', width: 34, height: 34 }), 'Sign in to dpcount'),
    h('p', { class: 'soft' }, 'Counts and sums over private tables, with noise that is paid for.'),
    error, h('label', { for: 'l-user' }, 'Name'), user, h('label', { for: 'l-pass' }, 'Password'), pass, button);
    queueMicrotask(() => user.focus());
    return form;
  }

  /* --- charts -------------------------------------------------------------- */

  function ticks(lo, hi) {
    const span = hi - lo || 1, raw = span / 4, mag = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((k) => k * mag).find((v) => v >= raw);
    const out = [];
    for (let v = Math.ceil(lo / step) * step; v <= hi + step * 1e-9; v += step) out.push(Math.abs(v) < step * 1e-9 ? 0 : v);
    return out;
  }

  /* Bars with error bars: {label, value, error}. The table beside it has the same numbers. */
  function chart(bars, name) {
    // as wide as it is shown, so that its texts keep their size on a phone
    const w = Math.min(460, Math.max(260, window.innerWidth - 80)), most = Math.floor((w * 0.37) / 7.6);
    const rowH = 30, left = 14 + 7.4 * Math.min(most, Math.max(3, ...bars.map((b) => b.label.length))), right = 24;
    const lo = Math.min(0, ...bars.map((b) => b.value - b.error)), hi = Math.max(0, ...bars.map((b) => b.value + b.error)) || 1;
    const x = (v) => left + ((v - lo) / (hi - lo || 1)) * (w - left - right);
    const height = bars.length * rowH + 30;
    const g = [];
    for (const t of ticks(lo, hi)) {
      g.push(s('line', { class: 'grid', x1: x(t), x2: x(t), y1: 4, y2: height - 24 }));
      g.push(s('text', { class: 'tick', x: x(t), y: height - 8, 'text-anchor': 'middle' }, short(t)));
    }
    bars.forEach((b, i) => {
      const y = 6 + i * rowH, mid = y + 10, a = x(Math.min(0, b.value)), z = x(Math.max(0, b.value));
      const label = b.label.length > most ? b.label.slice(0, most - 1) + '\u2026' : b.label;
      g.push(s('text', { x: left - 8, y: mid + 4, 'text-anchor': 'end' }, label));
      g.push(s('rect', { class: 'bar', x: a, y, width: Math.max(1, z - a), height: 20, rx: 3, 'data-value': b.text },
        s('title', null, b.label + ': ' + b.text + (b.error ? ' \u00b1 ' + short(b.error) : ''))));
      if (b.error) {
        const p = x(b.value - b.error), q = x(b.value + b.error);
        g.push(s('path', { class: 'err', d: `M${p} ${mid}H${q}M${p} ${mid - 5}v10M${q} ${mid - 5}v10` }));
      }
    });
    return s('svg', { class: 'chart', viewBox: `0 0 ${w} ${height}`, role: 'img', 'aria-label': name },
      s('title', null, name), g);
  }

  function ring(leftPart, text) {
    const r = 52, c = 2 * Math.PI * r, part = Math.max(0, Math.min(1, leftPart));
    return s('svg', { class: 'ring', viewBox: '0 0 130 130', role: 'img', 'aria-label': text + ' of the budget is left' },
      s('circle', { class: 'back', cx: 65, cy: 65, r, fill: 'none', 'stroke-width': 11 }),
      s('circle', {
        class: part < 0.15 ? 'low' : 'left', cx: 65, cy: 65, r, fill: 'none', 'stroke-width': 11, 'stroke-linecap': 'round',
        'stroke-dasharray': `${c * part} ${c}`, transform: 'rotate(-90 65 65)', visibility: part ? 'visible' : 'hidden',
      }),
      s('text', { class: 'big', x: 65, y: 70 }, text), s('text', { class: 'unit', x: 65, y: 88 }, 'epsilon left'));
  }

  function meter(part, label) {
    return h('div', { class: 'meter', role: 'img', 'aria-label': label },
      s('svg', { viewBox: '0 0 100 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        s('rect', { width: 100 * Math.max(0, Math.min(1, part || 0)), height: 1 })));
  }

  /* --- results ------------------------------------------------------------- */

  const cell = (v) => (v == null ? h('span', { class: 'null' }, 'NULL') : grouped(String(v)));

  function resultTable(r) {
    const isN = (c) => c.role !== 'key';
    return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of the answer' },
      h('table', { id: 'answer' }, h('caption', null, r.repeated ? 'Paid for before: free.' : 'Charged epsilon ' + r.price.epsilon + '.'),
        h('thead', null, h('tr', null, r.columns.map((c) => h('th', { scope: 'col', class: isN(c) ? 'n' : '' },
          c.role === 'error' ? '\u00b1 (95 %)' : c.name)))),
        h('tbody', null, r.rows.map((row) => h('tr', null, row.map((v, i) => h('td', { class: isN(r.columns[i]) ? 'n' : '' }, cell(v))))))));
  }

  function resultChart(r) {
    const keys = r.columns.map((c, i) => (c.role === 'key' ? i : -1)).filter((i) => i >= 0);
    const at = r.columns.findIndex((c) => c.role === 'count');
    if (at < 0 || !r.rows.length || r.rows.some((row) => row[at] != null && isNaN(num(row[at])))) return null;
    const hasError = r.columns[at + 1] && r.columns[at + 1].role === 'error';
    const bars = r.rows.slice(0, 40).filter((row) => row[at] != null).map((row) => ({
      label: keys.length ? keys.map((k) => (row[k] == null ? 'NULL' : String(row[k]))).join(', ') : r.columns[at].name,
      value: num(row[at]), text: String(row[at]), error: hasError ? num(row[at + 1]) || 0 : 0,
    }));
    return h('figure', { class: 'figure', id: 'chart' },
      chart(bars, `Bar chart of ${r.columns[at].name}${hasError ? ' with error bars: 95 % of the answers are within' : ''}`),
      r.rows.length > 40 && h('figcaption', { class: 'soft small' }, 'The first 40 of ' + r.rows.length + ' rows.'));
  }

  function csv(r) {
    const q = (v) => (v == null ? '' : /[",\r\n]/.test(v) ? '"' + String(v).replace(/"/g, '""') + '"' : String(v));
    return [r.columns.map((c) => q(c.name)), ...r.rows.map((row) => row.map(q))].map((l) => l.join(',')).join('\r\n') + '\r\n';
  }

  function download(r) {
    const url = URL.createObjectURL(new Blob([csv(r)], { type: 'text/csv' }));
    const a = h('a', { href: url, download: 'answer.csv' });
    document.body.append(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    say('The answer was saved as answer.csv.');
  }

  const shell = (t) => "'" + t.replace(/'/g, "'\\''") + "'";
  function psqlLine(q) {
    const set = [`SET dpcount.epsilon = '${q.epsilon}'`];
    if (num(q.delta) > 0) set.push(`SET dpcount.delta = '${q.delta}'`);
    if (q.groups && q.groups.length) set.push(`SET dpcount.groups = '${q.groups.join('; ').replace(/'/g, "''")}'`);
    return `psql "host=${location.hostname} dbname=${state.set} user=${state.me.user}" ` +
      [...set, q.sql].map((c) => '-c ' + shell(c)).join(' ');
  }

  async function copyPsql(button) {
    const text = psqlLine(state.asked.question);
    try {
      await navigator.clipboard.writeText(text);
      say('Copied.');
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy as psql'; }, 1500);
    } catch (e) {
      const box = h('pre', { tabindex: 0 }, text);
      button.closest('.card').append(box);
      getSelection().selectAllChildren(box);
    }
  }

  function showResult(r) {
    const one = r.rows.length === 1 && r.columns.filter((c) => c.role === 'count').length === 1 && !r.columns.some((c) => c.role === 'key');
    const err = r.columns.findIndex((c) => c.role === 'error');
    return h('section', { class: 'card', 'aria-labelledby': 'r-h' },
      h('div', { class: 'row mid' }, h('h2', { id: 'r-h', tabindex: -1 }, 'Answer'),
        r.repeated && h('span', { class: 'tag public' }, 'free: paid for before'),
        h('button', { type: 'button', class: 'quiet push', onclick: () => download(r) }, 'Save as CSV'),
        h('button', { type: 'button', class: 'quiet', onclick: (ev) => copyPsql(ev.target) }, 'Copy as psql')),
      one && h('p', { class: 'answer' }, cell(r.rows[0][r.columns.findIndex((c) => c.role === 'count')]),
        err >= 0 && r.rows[0][err] != null && h('small', null, ' \u00b1 ' + r.rows[0][err] + ' in 95 of 100 cases')),
      h('div', { class: 'both' }, resultTable(r), resultChart(r)),
      r.guarantee && h('details', null, h('summary', null, 'What is promised'), h('p', { class: 'soft' }, r.guarantee),
        r.receipt && h('p', { class: 'soft small' }, 'Receipt ', h('code', null, r.receipt))));
  }

  /* --- asking -------------------------------------------------------------- */

  function question() {
    const q = { sql: state.sql.trim(), epsilon: String(state.epsilon) };
    if (num(state.delta) > 0) q.delta = String(state.delta);
    const lines = state.groups.split('\n').map((l) => l.trim()).filter(Boolean);
    if (lines.length) q.groups = lines;
    const params = state.params.split('\n').map((l) => l.trim()).filter(Boolean);
    if (params.length) q.params = params;
    return q;
  }

  function withinOf(e) {
    if (!e) return null;
    if (e.at_most_p95 != null) return ['95 % within about', e.p95 != null ? e.p95 : e.at_most_p95];
    if (e.p95 != null) return ['95 % within', e.p95];
    if (e.p95_in_units_of_threshold != null) return ['95 % within', short(+num(e.p95_in_units_of_threshold).toPrecision(3)) + ' \u00d7 what one may contribute'];
    return null;
  }

  function firstError(q) {
    const j = q.quote || {};
    return withinOf(j.error || (Array.isArray(j.counts) && j.counts[0] && j.counts[0].error));
  }

  function pointAt(area, position) {
    if (position == null || position < 0) return;
    const bytes = new TextEncoder().encode(area.value);
    const from = new TextDecoder().decode(bytes.slice(0, position)).length;
    const word = /^\S*/.exec(area.value.slice(from))[0].length || 1;
    area.focus();
    area.setSelectionRange(from, from + word);
  }

  function askPage() {
    const d = current();
    if (!state.epsilon) state.epsilon = (d.epsilon && d.epsilon.default) || '0.1';
    const lo = num(d.epsilon && d.epsilon.min) || 0.01, hi = num(d.epsilon && d.epsilon.max) || 1;
    const toSlider = (e) => Math.round(1000 * Math.log(Math.min(hi, Math.max(lo, num(e) || lo)) / lo) / Math.log(hi / lo || 2));
    const fromSlider = (v) => String(+(lo * (hi / lo) ** (v / 1000)).toPrecision(2));
    const quoteBox = h('div', { class: 'quote', id: 'quote', 'aria-live': 'polite' });
    const problems = h('div'), result = h('div'), side = h('div');
    const area = h('textarea', {
      id: 'sql', spellcheck: 'false', autocapitalize: 'none', autocomplete: 'off', 'aria-describedby': 'sql-help',
      oninput: () => { state.sql = area.value; soon(); },
      onkeydown: (ev) => { if (ev.key === 'Enter' && (ev.ctrlKey || ev.metaKey)) { ev.preventDefault(); form.requestSubmit(); } },
    });
    area.value = state.sql;
    const eps = h('input', { id: 'eps', class: 'num', inputmode: 'decimal', value: state.epsilon, autocomplete: 'off', oninput: () => { state.epsilon = eps.value.trim(); slider.value = toSlider(state.epsilon); soon(); } });
    const slider = h('input', { type: 'range', min: 0, max: 1000, step: 5, value: toSlider(state.epsilon), 'aria-label': 'Epsilon, from little privacy cost to much', oninput: () => { eps.value = state.epsilon = fromSlider(slider.value); slider.setAttribute('aria-valuetext', 'epsilon ' + eps.value); soon(); } });
    const more = (id, label, key, hint) => {
      const f = h('textarea', { id, rows: 2, spellcheck: 'false', oninput: () => { state[key] = f.value; soon(); } });
      f.value = state[key];
      f.classList.add('mini');
      return [h('label', { for: id }, label), f, h('p', { class: 'soft small' }, hint)];
    };
    const delta = h('input', { id: 'delta', class: 'num', inputmode: 'decimal', value: state.delta, placeholder: '0', oninput: () => { state.delta = delta.value.trim(); soon(); } });
    const button = h('button', { type: 'submit', class: 'big', id: 'spend', disabled: true }, 'Spend');
    let timer = 0, turn = 0, quoted = null, busy = false;

    function soon() {
      clearTimeout(timer);
      quoted = null;
      button.disabled = true;
      timer = setTimeout(quote, 350);
    }
    async function quote() {
      const mine = ++turn, q = question();
      problems.replaceChildren();
      if (!q.sql) { quoteBox.replaceChildren(h('p', { class: 'soft' }, 'The price and the expected error appear here while you write. Looking is free.')); button.textContent = 'Spend'; return; }
      try {
        const r = await api(ds('quote'), q);
        if (mine !== turn) return;
        const w = firstError(r), price = r.price.epsilon;
        quoted = { q, price };
        quoteBox.replaceChildren(
          h('div', { class: 'row' },
            w ? h('div', { class: 'within', id: 'within' }, h('small', null, w[0] + ' '), '\u00b1 ' + grouped(short(w[1])))
              : h('div', { class: 'within', id: 'within' }, h('small', null, 'The error is told with the answer')),
            h('div', { class: 'push soft small' }, (r.quote && r.quote.mechanism) || '')),
          h('p', { class: 'soft small' }, (r.guarantee || '')));
        button.textContent = d.spend === false || state.me.spend === false ? 'Spending is off' : 'Spend \u03b5 ' + price;
        button.disabled = busy || state.me.spend === false;
      } catch (e) {
        if (mine !== turn || !state.me) return;
        button.textContent = 'Spend';
        quoteBox.replaceChildren(alertBox(e));
      }
    }
    async function spend(ev) {
      ev.preventDefault();
      if (!quoted || busy) return;
      const { q, price } = quoted;
      busy = true;
      button.disabled = true;
      result.replaceChildren();
      problems.replaceChildren();
      let left = num(d.pace) || 0;
      const tell = () => { button.textContent = left > 0 ? `Answer in ${Math.ceil(left)} s` : 'Counting\u2026'; left -= 1; };
      tell();
      const clock = setInterval(tell, 1000);
      try {
        const r = await api(ds('release'), { ...q, max_epsilon: price, max_delta: q.delta || '0' });
        state.asked = { question: q, result: r };
        result.replaceChildren(showResult(r));
        say('The answer is there.');
        $('r-h').focus();
      } catch (e) {
        problems.replaceChildren(alertBox(e));
        if (e.position != null) pointAt(area, e.position);
      }
      clearInterval(clock);
      busy = false;
      button.textContent = 'Spend \u03b5 ' + price;
      button.disabled = false;
      budgetCard(side);
    }
    const form = h('form', { class: 'card', onsubmit: spend },
      h('label', { for: 'sql' }, 'Question, in SQL'), area,
      h('p', { class: 'soft small', id: 'sql-help' }, 'COUNT, SUM and AVG over joins, with WHERE and GROUP BY. Ctrl+Enter spends.'),
      h('div', { class: 'row' },
        h('div', null, h('label', { for: 'eps' }, 'Epsilon per number'), h('div', { class: 'row mid' }, eps, slider))),
      h('details', null, h('summary', null, 'More'),
        h('label', { for: 'delta' }, 'Delta'), delta,
        h('p', { class: 'soft small' }, d.delta && num(d.delta.max) > 0 ? 'At most ' + d.delta.max + '.' : 'This data set is answered with delta 0.'),
        more('groups', 'Keys of GROUP BY', 'groups', 'One column a line: sex=F,M. Keys of public tables are known.'),
        more('params', 'Values of $1, $2, \u2026', 'params', 'One a line.')),
      quoteBox, problems, h('div', { class: 'row' }, button));
    budgetCard(side);
    if (state.asked && state.asked.set === state.set) result.replaceChildren(showResult(state.asked.result));
    quote();
    return [title('Ask'), h('div', { class: 'split' }, h('div', null, form, result), side)];
  }

  async function budgetCard(to) {
    try {
      const b = await api(ds('budget'));
      to.replaceChildren(h('section', { class: 'card', 'aria-labelledby': 'b-h' },
        h('h2', { id: 'b-h' }, 'Budget'), budgetView(b, true)));
    } catch (e) { to.replaceChildren(alertBox(e)); }
  }

  function budgetView(b, brief) {
    const total = num(b.epsilon), left = num(b.remaining);
    const rows = [['Spent', short(b.spent)], ['Of', short(b.epsilon)]];
    if (num(b.delta) > 0) rows.push(['Delta left', short(b.delta_remaining)]);
    if (!brief) rows.push(['Composition', b.composition], ['Answers', b.committed], ['Least price', b.least_price], ['Version of the data', b.version]);
    return [b.locked && h('p', { class: 'note', role: 'alert' }, 'The data set is locked until its owner has looked. Answers that were given are still free.'),
      ring(total ? left / total : 0, short(b.remaining)),
      h('dl', { id: 'budget-list' }, rows.filter((r) => r[1] != null).map(([k, v]) => [h('dt', null, k), h('dd', null, String(v))]))];
  }

  /* --- other pages --------------------------------------------------------- */

  const title = (text) => h('h1', { tabindex: -1 }, text);

  async function dataPage() {
    const { tables } = await api(ds('tables'));
    return [title('Data'), h('p', { class: 'soft' }, 'What may be asked about, and whose rows it is. No row is shown anywhere.'),
      tables.map((t) => h('section', { class: 'card' },
        h('div', { class: 'row mid' }, h('h2', { class: 'mono' }, t.name),
          h('span', { class: 'tag ' + (t.private ? 'private' : 'public') }, t.private ? 'private' : 'public'),
          h('button', { type: 'button', class: 'quiet push', 'aria-label': 'Count the rows of ' + t.name, onclick: () => { state.sql = `SELECT count(*) FROM ${ident(t.name)}`; location.hash = '#/ask'; } }, 'Count')),
        h('p', { class: 'soft' }, capital(t.whose.replace(/^(private|public)(: )?/, '')) || 'Open to everybody', t.comment && '. ' + t.comment),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Columns of ' + t.name }, h('table', null,
          h('thead', null, h('tr', null, ['Column', 'Type', 'Remark'].map((x) => h('th', { scope: 'col' }, x)))),
          h('tbody', null, t.columns.map((c) => h('tr', null, h('td', { class: 'mono' }, c.name), h('td', null, c.type),
            h('td', null, c.key && h('span', { class: 'tag' }, 'key'), c.key && ' ', c.references ? '\u2192 ' + c.references + ' ' : '', c.comment || ''))))))))];
  }
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const ident = (n) => (/^[a-z_][a-z0-9_]*$/.test(n) ? n : '"' + n.replace(/"/g, '""') + '"');

  async function budgetPage() {
    const b = await api(ds('budget'));
    return [title('Budget'), h('section', { class: 'card narrow' }, budgetView(b, false)),
      h('p', { class: 'soft' }, 'Every number that was answered is paid for once; asking the same again is free. What is spent does not come back.')];
  }

  function historyRow(e, all) {
    const again = () => { Object.assign(state, { sql: e.sql || e.query || '', epsilon: String(e.epsilon) }); location.hash = '#/ask'; };
    const cell = (c, ...x) => h('td', { role: 'cell', class: c }, ...x); /* roles, for a phone shows rows as blocks */
    return h('tr', { role: 'row' }, cell('small', when(e.held_at)), all && cell('', e.analyst), cell('sql', e.sql || e.query || ''),
      cell('n', short(e.epsilon)), cell('', e.state),
      !all && cell('', h('button', { type: 'button', class: 'quiet', onclick: again, 'aria-label': 'Open this question again' }, 'Open')));
  }

  /* Questions, one in each row. */
  function log(heads, body, caption, last) {
    return h('table', { class: 'log', role: 'table' }, caption && h('caption', null, caption),
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads.map((x) => h('th', { scope: 'col', role: 'columnheader', class: x === 'Epsilon' ? 'n' : '' }, x)),
        last && h('td', { role: 'cell' }))), body);
  }

  async function historyPage() {
    const body = h('tbody', { id: 'history', role: 'rowgroup' }), more = h('button', { type: 'button', class: 'quiet' }, 'Earlier');
    let before = '';
    async function load() {
      const r = await api(ds('history?limit=50' + (before && '&before=' + encodeURIComponent(before))));
      body.append(...r.history.map((e) => historyRow(e)));
      before = r.next;
      more.hidden = !before;
    }
    more.addEventListener('click', () => load().catch((e) => body.after(alertBox(e))));
    await load();
    return [title('History'), h('section', { class: 'card' },
      body.children.length ? h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Questions' },
        log(['When (UTC)', 'Question', 'Epsilon', 'State'], body, 'Your questions that were charged, the last first. Opening one and asking again is free.', true))
        : h('p', null, 'Nothing was charged yet.'), more)];
  }

  async function ownerPage() {
    const o = await api('owner');
    return [title('Owner'),
      o.certificate && h('p', { class: 'soft' }, 'The certificate is valid until ' + o.certificate.until + '.'),
      o.datasets.map((d) => {
        const b = d.budget || {};
        return h('section', { class: 'card' },
          h('div', { class: 'row mid' }, h('h2', null, d.name),
            d.error ? h('span', { class: 'tag locked' }, 'not served') : b.locked ? h('span', { class: 'tag locked' }, 'locked: to review') : h('span', { class: 'tag public' }, 'served')),
          d.error && alertBox(d.error),
          b.locked && h('p', { class: 'note' }, 'A question did not end as it should. Look at the owner\u2019s log, then run: dpcount budget unlock.'),
          !d.error && [h('dl', { class: 'tiles' }, [['Budget \u03b5', short(b.epsilon)], ['Spent \u03b5', short(b.spent)], ['Unlocks', b.unlocks], ['Version', b.version], ['Pace', d.pace ? d.pace + ' s' : 'none']]
            .filter((r) => r[1] != null).map(([k, v]) => h('div', null, h('dt', null, k), h('dd', null, String(v))))),
          h('h2', null, 'Analysts'),
          h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Analysts of ' + d.name }, h('table', null,
            h('thead', null, h('tr', null, ['Name', 'May spend', 'Spent', 'Left', 'Used'].map((x, i) => h('th', { scope: 'col', class: i && i < 4 ? 'n' : '' }, x)))),
            h('tbody', null, d.analysts.map((a) => h('tr', null, h('td', null, a.name), h('td', { class: 'n' }, short(a.epsilon)), h('td', { class: 'n' }, short(a.spent)),
              h('td', { class: 'n' }, short(a.remaining)), h('td', null, meter(num(a.spent) / num(a.epsilon), `${a.name} has used ${Math.round(100 * num(a.spent) / num(a.epsilon) || 0)} percent`))))))),
          h('details', null, h('summary', null, 'Questions of all'), h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Questions of all analysts' },
            log(['When (UTC)', 'Who', 'Question', 'Epsilon', 'State'], h('tbody', { role: 'rowgroup' }, (d.history || []).slice(-200).reverse().map((e) => historyRow(e, true)))))),
          d.policy && h('details', null, h('summary', null, 'Policy'), h('pre', { tabindex: 0 }, d.policy))]);
      }),
      h('p', { class: 'soft' }, 'This page changes nothing. Grants, unlocking and reloading are commands on the host.')];
  }

  /* --- pages --------------------------------------------------------------- */

  const pages = { ask: ['Ask', askPage], data: ['Data', dataPage], budget: ['Budget', budgetPage], history: ['History', historyPage], owner: ['Owner', ownerPage] };

  function frame(name) {
    const own = state.me && state.me.owner ? ['owner'] : ['ask', 'data', 'budget', 'history'];
    $('top').hidden = !state.me;
    $('nav').replaceChildren(...own.map((p) => h('li', null, h('a', { href: '#/' + p, 'aria-current': p === name ? 'page' : null }, pages[p][0]))));
    $('user').textContent = state.me ? state.me.user : '';
    $('dataset').hidden = state.sets.length < 1;
    $('dataset').replaceChildren(...state.sets.map((d) => h('option', { value: d.name, selected: d.name === state.set }, d.name)));
  }

  async function route(first) {
    let name = location.hash.replace(/^#\//, '') || 'ask';
    if (state.me && state.me.owner) name = 'owner';
    if (!pages[name] || (name === 'owner' && !(state.me && state.me.owner))) name = 'ask';
    frame(name);
    document.title = (state.me ? pages[name][0] : 'Sign in') + ' \u00b7 dpcount';
    if (!state.me) { $('main').replaceChildren(loginPage()); return; }
    let content;
    try { content = await pages[name][1](); } catch (e) { if (!state.me) return; content = [title(pages[name][0]), alertBox(e)]; }
    $('main').replaceChildren(...[content].flat(9).filter(Boolean));
    if (!first) { const t = document.querySelector('h1'); if (t) t.focus(); }
  }

  async function start() {
    try {
      state.me = await api('me');
      state.sets = state.me.owner ? [] : (await api('datasets')).datasets;
      if (!state.sets.some((d) => d.name === state.set)) state.set = state.sets.length ? state.sets[0].name : null;
    } catch (e) { state.me = null; }
    await route(true);
  }

  addEventListener('hashchange', () => { if (state.me && location.hash.startsWith('#/')) route(); });
  addEventListener('DOMContentLoaded', () => {
    $('logout').addEventListener('click', async () => {
      try { await api('logout', {}); } catch (e) { /* gone anyway */ }
      Object.assign(state, { me: null, sets: [], set: null, sql: '', asked: null });
      location.hash = '';
      route();
    });
    $('dataset').addEventListener('change', (ev) => { state.set = ev.target.value; state.asked = null; state.epsilon = ''; route(); });
    start();
  });
})();
