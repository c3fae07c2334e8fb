import { pathToFileURL } from 'node:url';

/** Child of bench.mjs: runs one compiled bench and hands its result to the parent. */
const { run } = await import(pathToFileURL(process.argv[2]).href);
const { results, goals } = await run();
await new Promise(sent => process.send({ results, goals }, sent));
// What a bench leaves open must not keep the next one waiting.
process.exit(0);
