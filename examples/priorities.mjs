// Twelve files of bulk work wait; one interactive request comes last and is served next:
//   node examples/priorities.mjs
import { openai, recording, speak } from './gateway.mjs';

const audio = await speak('Every request has a place in the queue. '.repeat(2));
const startedMs = performance.now();

async function transcribe(name, priority) {
  const file = await recording(audio);
  const request = { file, model: 'whisper-1' };
  const options = { headers: { 'x-priority': priority } };
  const outcome = await openai.audio.transcriptions
    .create(request, options)
    .withResponse()
    .then(
      ({ response }) => response.headers.get('server-timing'),
      error => `failed: ${error.message}`,
    );
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1).padStart(5);
  console.log(`${seconds} s  ${name.padEnd(11)}  ${outcome}`);
}

const bulk = Array.from({ length: 12 }, (_, i) => transcribe(`bulk ${i + 1}`, 'batch'));
await new Promise(resolve => setTimeout(resolve, 300));
await Promise.all([...bulk, transcribe('interactive', 'realtime')]);
