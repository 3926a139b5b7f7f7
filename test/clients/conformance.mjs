// conformance.mjs PACKAGES URL RESULTS REVISION...: runs the conformance suite of MCP, and judges it.
//
// The suite calls a scenario passed in which it found nothing wrong, even when it looked at nothing.
// Here one has passed when something was looked at, and nothing of it failed or was warned of.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [packages, url, results, ...revisions] = process.argv.slice(2);
const suite = join(packages, 'node_modules/@modelcontextprotocol/conformance');
const { parse } = createRequire(join(suite, 'package.json'))('yaml');

// What a scenario is to be blamed for; empty: it has passed.
function faults(checks) {
  const bad = checks.filter((c) => c.status === 'FAILURE' || c.status === 'WARNING');
  if (bad.length > 0) return bad.map((c) => `${c.id}: ${c.errorMessage}`);
  return checks.some((c) => c.status === 'SUCCESS') ? [] : ['nothing was looked at'];
}

// The checks of each scenario of a revision, by the scenario's name.
async function run(revision) {
  const output = join(results, revision);
  mkdirSync(output, { recursive: true });
  const program = join(suite, 'dist/index.js');
  const ran = spawn(
    process.execPath,
    [program, 'server', '--url', url, '--requirements', revision, '-o', output],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  ran.stderr.on('data', (text) => (said += text));
  await once(ran, 'close');
  const found = new Map();
  for (const folder of readdirSync(output)) {
    const name = folder.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '');
    const file = join(output, folder, 'checks.json');
    if (existsSync(file)) found.set(name, JSON.parse(readFileSync(file, 'utf8')));
  }
  if (found.size === 0) throw new Error(`the suite did not run:\n${said}`);
  return found;
}

let passed = 0, failed = 0, open = 0;

function judge(revision, scenario, checks, counts) {
  const wrong = checks ? faults(checks) : ['it was not run'];
  if (wrong.length === 0) return void passed++;
  counts ? failed++ : open++;
  console.log(`${counts ? 'FAIL' : 'open'} ${revision} ${scenario}: ${wrong.join('; ')}`);
}

// All at once: the server speaks them all on one address.
const runs = await Promise.all(revisions.map(run));
for (const [i, revision] of revisions.entries()) {
  const required = parse(readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8'));
  const found = runs[i];
  for (const scenario of required.server) judge(revision, scenario, found.get(scenario), true);
  for (const { scenario, leg } of required.not_scored)
    if (leg === 'server') judge(revision, scenario, found.get(scenario), false);
}
console.log(`${passed} scenarios passed, ${failed} failed, ${open} that do not count are open`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
