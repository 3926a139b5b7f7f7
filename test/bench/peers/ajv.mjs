// ajv.mjs: the same documents through ajv.
//
//   node ajv.mjs SCHEMA DIRECTORY NAME ...
//
// prints "ajv.check.NAME ns" and "ajv.parse+check.NAME ns" for each DIRECTORY/NAME.jsonl. The texts
// are strings already, so ajv is spared the decoding of UTF-8 that a server would have to do.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const ROUNDS = 7;
const ROUND_NS = 100e6;

const [schemaPath, directory, ...names] = process.argv.slice(2);
const Ajv = createRequire(resolve(directory, 'x.js'))('ajv');
const validate = new Ajv().compile(JSON.parse(readFileSync(schemaPath, 'utf8')));

function roundNs(run, times) {
    const start = process.hrtime.bigint();
    run(times);
    return Number(process.hrtime.bigint() - start);
}

// The median of some rounds, each of about ROUND_NS: as measure.c does.
function measure(run) {
    let times = 1;
    for (let ns; (ns = roundNs(run, times)) < ROUND_NS; )
        times = ns < ROUND_NS / 10 ? times * 8 : Math.ceil(times * ROUND_NS / ns * 1.1);
    const found = Array.from({ length: ROUNDS }, () => roundNs(run, times) / times);
    return found.sort((a, b) => a - b)[ROUNDS >> 1];
}

function shuffled(list) {
    for (let i = list.length - 1, seed = 1; i > 0; i--) {
        seed = (seed * 48271) % 2147483647;
        const k = seed % (i + 1);
        [list[i], list[k]] = [list[k], list[i]];
    }
    return list;
}

function overAll(list, fits) {
    let at = 0;
    return times => {
        for (; times > 0; times--) {
            if (!fits(list[at])) throw new Error(`ajv refuses document ${at}`);
            at = at + 1 === list.length ? 0 : at + 1;
        }
    };
}

for (const name of names) {
    const lines = readFileSync(resolve(directory, `${name}.jsonl`), 'utf8').trimEnd().split('\n');
    const texts = shuffled(lines.map(line => Buffer.from(line).toString()));
    const documents = texts.map(text => JSON.parse(text));
    console.log(`ajv.check.${name} ${measure(overAll(documents, validate)).toFixed(1)}`);
    const both = overAll(texts, text => validate(JSON.parse(text)));
    console.log(`ajv.parse+check.${name} ${measure(both).toFixed(1)}`);
}
