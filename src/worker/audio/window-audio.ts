import { type PreparedAudio } from '../engines/engine.js';
import { bytesOf, RECOGNISER_RATE } from './pcm.js';
import { wavHeader } from './wav.js';
import { type AudioWindow } from './window-cutter.js';

/** A window as the engine takes it: samples, or a WAV file of its own. */
export function windowAudio({ samples, durationS }: AudioWindow, input: PreparedAudio['kind']): PreparedAudio {
  if (input === 'pcm') return { kind: 'pcm', samples, sampleRate: RECOGNISER_RATE, durationS };
  const data = bytesOf(samples);
  const bytes = Buffer.concat([wavHeader(RECOGNISER_RATE, data.length), data]);
  return { kind: 'encoded', bytes, filename: 'window.wav', durationS };
}
