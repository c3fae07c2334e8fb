// One piece of work, sent twice with one key, is done once; and an answer fetched later:
//   node examples/retries.mjs
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiKey, base } from './gateway.mjs';

const headers = {
  authorization: `Bearer ${apiKey}`,
  'content-type': 'application/json',
};
const body = JSON.stringify({
  model: 'tts-1',
  voice: 'alloy',
  input: 'Once is enough.',
});
const post = more =>
  fetch(`${base}/v1/audio/speech`, {
    method: 'POST',
    body,
    headers: { ...headers, ...more },
  });

const key = { 'idempotency-key': randomUUID() };
for (const attempt of ['first', 'second']) {
  const answer = await post(key);
  const { length } = Buffer.from(await answer.arrayBuffer());
  const replayed = answer.headers.get('idempotent-replayed') ?? 'false';
  console.log(`${attempt} attempt: ${answer.status}, ${length} bytes, replayed: ${replayed}`);
}

const accepted = await post({ prefer: 'respond-async' });
const { request_id: id } = await accepted.json();
console.log(`accepted for later: ${accepted.status}, ${id}`);
for (;;) {
  const view = await (await fetch(`${base}/v1/requests/${id}`, { headers })).json();
  console.log(`its status: ${view.status}`);
  if (['completed', 'failed', 'cancelled'].includes(view.status)) break;
  await sleep(200);
}
const content = await fetch(`${base}/v1/requests/${id}/content`, { headers });
console.log(`its audio: ${(await content.arrayBuffer()).byteLength} bytes`);
