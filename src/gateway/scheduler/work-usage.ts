import { type WorkUsage } from '../../core/dispatch/dispatch-event.js';
import { type WorkerReply } from '../worker-pool/worker-task.js';

/** What a reply says it took: seconds of audio as the worker heard or made them, tokens as the engine counted them. */
export function usageOf(reply: WorkerReply): WorkUsage | undefined {
  switch (reply.kind) {
    case 'transcript':
      return { audioSeconds: reply.transcript.durationS };
    case 'speech':
      return { audioSeconds: reply.durationS };
    default:
      return reply.usage && { tokens: reply.usage.promptTokens + reply.usage.completionTokens };
  }
}
