// Text to speech and back with the official SDK:
//   node examples/speak-and-transcribe.mjs "Every request has a place in the queue."
import { openai, recording, speak } from './gateway.mjs';

const said = process.argv[2] ?? 'Every request has a place in the queue.';
const audio = await speak(said);
const file = await recording(audio);
const { text } = await openai.audio.transcriptions.create({ file, model: 'whisper-1' });

console.log(`said   ${said}`);
console.log(`audio  ${audio.length} bytes of MP3`);
console.log(`heard  ${text}`);
