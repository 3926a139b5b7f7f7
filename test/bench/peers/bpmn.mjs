// bpmn.mjs: start, split, three tasks with callbacks, join, end, by bpmn-engine in one process.
//
//   node bpmn.mjs PACKAGES SECONDS
//
// The definition is parsed once, and each execution is an engine of its own that has the parsed one, as
// the package's documentation has it. One after the other: nothing of it waits. Prints executions for
// each second, and microseconds of processor time for each of them.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, seconds] = process.argv.slice(2);
const require = createRequire(resolve(packages, 'x.js'));
const load = name => import(pathToFileURL(require.resolve(name)));
const { Engine } = await load('bpmn-engine');
const { default: BpmnModdle } = await load('bpmn-moddle');

const task = (id, to) => `
    <serviceTask id="${id}" implementation="\${environment.services.${id}}" />
    <sequenceFlow id="to_${id}" sourceRef="split" targetRef="${id}" />
    <sequenceFlow id="from_${id}" sourceRef="${id}" targetRef="${to}" />`;
const source = `<?xml version="1.0" encoding="UTF-8"?>
<definitions id="bench" xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    targetNamespace="http://example.com/bench">
  <process id="three" isExecutable="true">
    <startEvent id="start" /><parallelGateway id="split" /><parallelGateway id="join" /><endEvent id="end" />
    <sequenceFlow id="in" sourceRef="start" targetRef="split" />
    <sequenceFlow id="out" sourceRef="join" targetRef="end" />
    ${['a', 'b', 'c'].map(id => task(id, 'join')).join('')}
  </process>
</definitions>`;
const moddleContext = await new BpmnModdle().fromXML(source);
let calls = 0;
const service = (_, done) => done(null, ++calls);
const services = { a: service, b: service, c: service };

const once = () =>
    new Promise((ok, wrong) => {
        const engine = new Engine({ moddleContext, services });
        engine.once('end', ok);
        engine.once('error', wrong);
        engine.execute().catch(wrong);
    });

async function during(ms) {
    const began = performance.now();
    let count = 0;
    for (; performance.now() - began < ms; count++) await once();
    return count / ((performance.now() - began) / 1000);
}

await during(500); // compiled by now
calls = 0;
const before = process.cpuUsage();
const began = performance.now();
const rate = await during(seconds * 1000);
const cpu = process.cpuUsage(before);
const count = rate * ((performance.now() - began) / 1000);
if (Math.round(calls / 3) !== Math.round(count)) throw new Error(`${calls} calls of ${count} executions`);
console.log(rate, (cpu.user + cpu.system) / count);
