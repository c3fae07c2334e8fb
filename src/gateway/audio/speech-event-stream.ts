import { type Readable } from 'node:stream';
import { speechDelta, speechDone } from '../../contracts/formats/speech-events.js';
import { sseData } from '../../contracts/formats/server-sent-event.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type SubmittedRequest } from '../scheduler/submitted-request.js';

/** `stream_format: sse`: a delta per piece of audio, then done, or the error envelope when it broke in the middle. */
export async function* speechEventFrames(audio: Readable, { settled }: SubmittedRequest): AsyncGenerator<string> {
  try {
    for await (const chunk of audio) yield speechDelta(chunk as Buffer);
  } catch {
    // The stream breaks because the request failed; the settlement says why.
  }
  const { settlement } = await settled;
  if (settlement.status !== 'completed') yield sseData(errorEnvelope(settlement.error));
  else yield speechDone(settlement.reply.kind === 'speech' ? settlement.reply.durationS : 0);
}
