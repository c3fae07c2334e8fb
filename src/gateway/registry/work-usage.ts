import { deviceShareMs } from '@switchyard/worker-protocol/call.codec.js';
import { type WorkUsage } from '../../core/dispatch/dispatch-event.js';
import { type ServiceTimes } from '../../core/latency/service-times.js';
import {
  type WorkerReply,
  type WorkerTask,
  type TaskRequest,
} from '../../worker-client/worker-task.js';

/** English text and JSON, about. */
const BYTES_PER_TOKEN = 4;

/** What is known of the work before it is sent. */
export function workSizeOf(task: WorkerTask) {
  switch (task.kind) {
    case 'transcribe':
      // Of audio by URL only the largest possible duration is known.
      return 'url' in task.audio || task.durationS === undefined ? {} : { input: task.durationS };
    case 'synthesize':
      return { input: task.text.length };
    case 'generate':
      return {
        input: task.body.length / BYTES_PER_TOKEN,
        mostOutput: (task.maxTokens || Infinity) * (task.n || 1),
      };
    case 'embed':
      return { input: task.body.length / BYTES_PER_TOKEN };
  }
}

/** Seconds of audio as the worker measured them, or tokens as the engine counted them. */
export function usageOf(reply: WorkerReply, task: WorkerTask): WorkUsage | undefined {
  switch (reply.kind) {
    case 'transcript':
      return { audioSeconds: reply.transcript.durationS };
    case 'speech':
      return {
        audioSeconds: reply.durationS,
        ...(task.kind === 'synthesize' && { characters: task.text.length }),
      };
    default: {
      if (!reply.usage) return undefined;
      const { promptTokens: inputTokens, completionTokens: outputTokens } = reply.usage;
      return { tokens: inputTokens + outputTokens, inputTokens, outputTokens };
    }
  }
}

/**
 * Learns what a request cost, in the units of `workSizeOf`.
 * @returns its device milliseconds; undefined: its worker did not report them
 */
export function observeCost(
  times: ServiceTimes,
  { model, payload }: TaskRequest,
  reply: WorkerReply,
): number | undefined {
  const deviceMs = deviceShareMs(reply.execution);
  if (deviceMs === undefined) return undefined;
  const { characters, audioSeconds, inputTokens, outputTokens } = usageOf(reply, payload) ?? {};
  const input = characters ?? audioSeconds ?? inputTokens;
  const output = reply.kind === 'generation' ? outputTokens : undefined;
  times.of(model).costs.observe({ input, output }, deviceMs);
  return deviceMs;
}
