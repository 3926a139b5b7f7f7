// dbos.mjs: durable workflows of two steps by the DBOS library, on a PostgreSQL.
//
//   node dbos.mjs PACKAGES SECONDS CONNECTIONS URL
//
// As many workflows as CONNECTIONS are under way, each begun when the one
// before it has given its result. Prints workflows for each second, and microseconds of processor
// time of this process, without the database's, for each of them.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, seconds, connections, url] = process.argv.slice(2);
const require = createRequire(resolve(packages, 'x.js'));
const load = name => import(pathToFileURL(require.resolve(name)));
const { DBOS } = await load('@dbos-inc/dbos-sdk');
const { default: pg } = await load('pg');

const pool = new pg.Pool({ connectionString: url, max: 20 });
DBOS.setConfig({ name: 'bench', systemDatabasePool: pool, logLevel: 'error', runAdminServer: false });
const two = DBOS.registerWorkflow(
    async x => {
        const first = await DBOS.runStep(async () => x + 1, { name: 'first' });
        return DBOS.runStep(async () => first + 1, { name: 'second' });
    },
    { name: 'two' },
);
await DBOS.launch();

async function during(ms) {
    const until = performance.now() + ms;
    let count = 0;
    const one = async () => {
        for (; performance.now() < until; count++)
            if ((await two(count)) === undefined) throw new Error('a workflow gave nothing');
    };
    await Promise.all(Array.from({ length: Number(connections) }, one));
    return count;
}

await during(1000); // compiled, and connected
const before = process.cpuUsage();
const began = performance.now();
const count = await during(seconds * 1000);
const took = (performance.now() - began) / 1000;
const cpu = process.cpuUsage(before);
console.log(count / took, (cpu.user + cpu.system) / count);
process.exit(0);
