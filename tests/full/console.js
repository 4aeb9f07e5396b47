'use strict';
/* Drives the console in Chromium; test_console.py starts the service and says where it is. Prints what failed. */
const fs = require('fs');
const path = require('path');
const npm = process.env.CONSOLE_NPM;
const { chromium } = require(path.join(npm, 'playwright-core'));
const axe = fs.readFileSync(path.join(npm, 'axe-core', 'axe.min.js'), 'utf8');
const { CONSOLE_URL: url, CONSOLE_PASSWORD: password, CONSOLE_OTHER: other, CONSOLE_SHOTS: shots } = process.env;
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
let failed = 0;

function check(ok, what, ...more) {
  if (ok) return;
  failed++;
  console.log('FAILED:', what, ...more.map((m) => JSON.stringify(m)));
}

/* The page forbids eval, so waiting is polling from outside. */
async function until(page, f, arg, what) {
  for (let i = 0; i < 600; i++) {
    if (await page.evaluate(f, arg)) return true;
    await new Promise((r) => setTimeout(r, 100));
  }
  check(false, 'never: ' + (what || f));
  throw new Error('gave up');
}

async function accessible(page, where) {
  const r = await page.evaluate(axe + '; axe.run(document)');
  check(r.violations.length === 0, 'axe: ' + where, r.violations.map((v) => [v.id, v.nodes.map((n) => n.html).slice(0, 2)]));
}

async function look(page, tag, name) {
  await accessible(page, tag + ' ' + name);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1);
  check(wide, `${tag} ${name}: nothing sticks out to the side`);
  await page.screenshot({ path: path.join(shots, `console-${tag}-${name}.png`), fullPage: true });
}

const text = (page, selector) => page.evaluate((q) => (document.querySelector(q) || { textContent: '' }).textContent, selector);
const left = async (page) => Number(await text(page, '.ring .big'));

/* Only keys from here: Tab, letters, Enter. */
async function signIn(page, user) {
  await page.goto(url);
  await until(page, () => document.activeElement && document.activeElement.id === 'l-user', null, 'the name has the focus');
  await page.keyboard.type(user);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
  await until(page, () => !document.getElementById('top').hidden, null, 'signed in');
}

async function tabTo(page, id) {
  for (let i = 0; i < 60; i++) {
    if (await page.evaluate((x) => document.activeElement && document.activeElement.id === x, id)) return;
    await page.keyboard.press('Tab');
  }
  check(false, 'Tab reaches ' + id);
}

async function ask(page, sql, epsilon) {
  await tabTo(page, 'sql');
  await page.keyboard.press('Control+A');
  await page.keyboard.type(sql);
  if (epsilon) {
    await tabTo(page, 'eps');
    await page.keyboard.press('Control+A');
    await page.keyboard.type(epsilon);
  }
  await until(page, () => /^Spend \u03b5 [\d.]+$/.test(document.getElementById('spend').textContent) && !document.getElementById('spend').disabled,
    null, 'the price on the button');
  const price = Number((await text(page, '#spend')).replace(/[^\d.]/g, ''));
  check(/95 % within.*\u00b1/.test(await text(page, '#within')), 'the expected error', await text(page, '#within'));
  return price;
}

async function spend(page) {
  await page.evaluate(() => { const t = document.getElementById('answer'); if (t) t.id = 'before'; });
  await tabTo(page, 'spend');
  await page.keyboard.press('Enter');
  await until(page, () => document.getElementById('answer'), null, 'the answer');
}

async function chartIsTable(page) {
  const [table, bars] = await page.evaluate(() => [
    [...document.querySelectorAll('#answer tbody tr')].map((tr) => [...tr.children].map((td) => td.textContent)),
    [...document.querySelectorAll('#chart .bar')].map((b) => [b.dataset.value, Number(b.getAttribute('width')), b.querySelector('title').textContent]),
  ]);
  check(table.length > 0 && table.length === bars.length, 'a bar for each row', table, bars);
  table.forEach((row, i) => check(row[1].replace(/\s/g, '') === bars[i][0] && bars[i][2].startsWith(row[0] + ':'), 'the same number', row, bars[i]));
  const per = bars.filter((b) => Number(b[0]) > 20).map((b) => b[1] / Number(b[0]));
  check(Math.max(...per) / Math.min(...per) < 1.02, 'bars are as long as their numbers', per);
  check(await page.evaluate(() => document.querySelectorAll('#chart .err').length) === bars.length, 'error bars');
}

async function go(page, name) {
  await page.evaluate((n) => { location.hash = '#/' + n; }, name);
  await until(page, (n) => document.querySelector('h1') && document.querySelector('h1').textContent.toLowerCase() === n, name, 'page ' + name);
}

async function analyst(context, tag) {
  const most = { light: 100001, dark: 100002, phone: 100003 }[tag]; /* what was asked before is free */
  const page = await context.newPage();
  const errors = [];
  page.on('pageerror', (e) => errors.push(e.message));
  page.on('console', (m) => { if (/Content Security Policy/.test(m.text())) errors.push(m.text()); });
  page.on('request', (r) => { if (!r.url().startsWith(url) && !r.url().startsWith('blob:')) errors.push('asks elsewhere: ' + r.url()); });
  await page.goto(url);
  await until(page, () => document.getElementById('l-user'));
  await look(page, tag, 'login');
  await signIn(page, 'ann');
  await until(page, () => document.querySelector('.ring .big'), null, 'the gauge');
  const before = await left(page);
  const price = await ask(page, `SELECT city, count(*) AS n FROM pat JOIN hos USING (h) WHERE id < ${most} GROUP BY city`, '0.2');
  await look(page, tag, 'quote');
  await spend(page);
  await until(page, (b) => Number(document.querySelector('.ring .big').textContent) < b, before, 'the gauge falls');
  check(Math.abs(before - (await left(page)) - price) < 1e-6, 'the budget falls by the shown price', before, await left(page), price);
  await chartIsTable(page);
  await look(page, tag, 'answer');
  check(!(await page.evaluate(() => window.hurt)), 'names and values do no harm');
  await ask(page, `SELECT count(*) FROM pat WHERE sex = 'F' AND id < ${most}`);
  await spend(page);
  check(/\d/.test(await text(page, '.answer')), 'one number is shown large');
  await page.fill('#sql', 'SELECT count(*) FROM nope');
  await until(page, () => document.querySelector('.quote .alert'), null, 'a refusal');
  await look(page, tag, 'refused');
  await go(page, 'data');
  await look(page, tag, 'data');
  await go(page, 'budget');
  await look(page, tag, 'budget');
  await go(page, 'history');
  check((await text(page, '#history')).includes(`id < ${most}`), 'the history has the question');
  await look(page, tag, 'history');
  const fits = await page.evaluate(() => [...document.querySelectorAll('.scroll')].every((e) => e.scrollWidth <= e.clientWidth + 1));
  check(fits, `${tag}: the history is as wide as the page`);
  check(!(await page.evaluate(() => window.hurt)), 'names do no harm anywhere');
  check(errors.length === 0, tag + ': errors in the page', errors);
  await tabTo(page, 'logout');
  await page.keyboard.press('Enter');
  await until(page, () => document.getElementById('l-user'), null, 'signed out');
  await page.close();
}

/* A page of another site, while somebody is signed in here. */
async function crossSite(context) {
  const page = await context.newPage();
  await signIn(page, 'bob');
  await until(page, () => document.querySelector('.ring .big'));
  const before = await left(page);
  const evil = await context.newPage();
  await evil.goto(other);
  const outcome = await evil.evaluate(async (to) => {
    const body = JSON.stringify({ sql: 'SELECT count(*) FROM pat', epsilon: '0.5' });
    const tries = [{ headers: { 'Content-Type': 'application/json', 'X-DPC': '1' } }, { headers: { 'Content-Type': 'text/plain' } }, { mode: 'no-cors' }];
    const out = [];
    for (const t of tries) {
      try { const r = await fetch(to + 'api/v1/datasets/hospital/release', { method: 'POST', credentials: 'include', body, ...t }); out.push(r.type + r.status); } catch (e) { out.push('refused'); }
    }
    return out;
  }, url);
  check(outcome.every((o) => o === 'refused' || o === 'opaque0'), 'another site gets nothing', outcome);
  await page.reload();
  await until(page, () => document.querySelector('.ring .big'));
  check(await left(page) === before, 'another site spends nothing', before, await left(page));
  const framed = await evil.evaluate((to) => new Promise((done) => {
    const f = document.createElement('iframe');
    f.onload = () => done(f.contentDocument === null ? 'closed' : f.contentDocument.body.textContent);
    f.src = to;
    document.body.append(f);
    setTimeout(() => done('closed'), 3000);
  }), url);
  check(framed === 'closed', 'it cannot be in a frame', framed);
  await page.click('#logout');
  await evil.close();
}

async function owner(context, tag) {
  const page = await context.newPage();
  await signIn(page, 'dba');
  await until(page, () => document.querySelector('h1') && document.querySelector('h1').textContent === 'Owner');
  check((await text(page, 'main')).includes('ann'), 'the owner sees analysts');
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
  check((await text(page, 'main')).includes('privacy: private'), 'and the policy');
  await look(page, tag, 'owner');
  check(!(await page.evaluate(() => window.hurt)), 'questions of analysts do the owner no harm');
  await page.click('#logout');
  await until(page, () => document.getElementById('l-user'), null, 'the owner signed out');
  await page.close();
}

async function main() {
  const folder = fs.mkdtempSync(path.join(shots, 'browser-'));
  const kinds = [['light', 'light', { width: 1240, height: 900 }], ['dark', 'dark', { width: 1240, height: 900 }], ['phone', 'light', { width: 390, height: 844 }]];
  for (const [tag, colorScheme, viewport] of kinds) {
    const context = await chromium.launchPersistentContext(path.join(folder, tag), {
      executablePath: process.env.CONSOLE_CHROMIUM, headless: true, viewport, colorScheme, args: flags,
    });
    try {
      await analyst(context, tag);
      await owner(context, tag);
      if (tag === 'light') await crossSite(context);
    } finally { await context.close(); }
  }
  fs.rmSync(folder, { recursive: true, force: true });
  return failed;
}

main().then((n) => process.exit(n ? 1 : 0), (e) => { console.log('FAILED:', e.stack); process.exit(1); });
