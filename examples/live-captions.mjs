// Speech sent in real time; words appear while it is spoken:
//   node examples/live-captions.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { base, speak } from './gateway.mjs';

/** Bytes of 100 ms: 24 kHz, mono, 16 bit. */
const CHUNK = 4800;

const audio = await speak('The train is on the right track. It leaves in the morning.', 'pcm');
const address = `${base.replace('http', 'ws')}/v1/realtime?intent=transcription`;
const socket = new WebSocket(address);
let sent = false;

socket.onmessage = ({ data }) => {
  const { type, delta, transcript, error } = JSON.parse(data);
  if (type.endsWith('.delta')) process.stdout.write(delta);
  if (type.endsWith('.completed')) {
    process.stdout.write(`\nfinal: ${transcript}\n`);
    if (sent) socket.close(1000);
  }
  if (error) console.error(error.message);
};
socket.onclose = ({ code }) => process.exit(code === 1000 ? 0 : 1);
await new Promise(open => (socket.onopen = open));

for (let at = 0; at < audio.length; at += CHUNK) {
  socket.send(audio.subarray(at, at + CHUNK));
  await sleep(100);
}
sent = true;
socket.send(Buffer.alloc(10 * CHUNK)); // one second of silence ends the last sentence
