// A long recording is cancelled twice: by its id, and by closing the connection:
//   node examples/cancel.mjs
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiKey, base, openai, recording, speak } from './gateway.mjs';

console.log('Makes a recording of two minutes first …');
const audio = await speak('Every request has a place in the queue. '.repeat(40));

async function start(id, signal) {
  const file = await recording(audio);
  const options = { signal, headers: { 'x-request-id': id } };
  return openai.audio.transcriptions.create({ file, model: 'whisper-1' }, options);
}

const outcome = work =>
  work.then(
    () => 'completed',
    error => error.status ?? error.name,
  );

const id = `example-${randomUUID()}`;
const running = outcome(start(id));
await sleep(1000);
let askedMs = performance.now();
const headers = { authorization: `Bearer ${apiKey}` };
const answer = await fetch(`${base}/v1/requests/${id}/cancel`, {
  method: 'POST',
  headers,
});
console.log(`cancel by id: ${JSON.stringify(await answer.json())}`);
console.log(`its caller: ${await running}, ${(performance.now() - askedMs).toFixed(0)} ms later`);

const leaving = new AbortController();
const abandoned = outcome(start(`${id}-2`, leaving.signal));
await sleep(1000);
leaving.abort();
console.log(`connection closed: ${await abandoned}`);
await sleep(200);
const view = await fetch(`${base}/v1/requests/${id}-2`, { headers });
console.log(`the gateway says: ${(await view.json()).state}`);
