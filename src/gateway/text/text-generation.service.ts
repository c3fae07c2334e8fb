import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import {
  type InferenceCaller,
  type InferenceRequest,
  InferenceService,
} from '../inference/inference.service.js';
import { type GenerationOutputStream } from './generation-output-stream.js';
import { affinityOf, type ParsedGeneration } from './parse-generation.js';

/**
 * What is to be generated, in the one form that scheduler, workers and engines know
 * (D-30): the body of a chat or of a completion, byte by byte. Other dialects are
 * translated to a chat before they come here.
 */
export interface Generation extends Pick<
  ParsedGeneration,
  'model' | 'task' | 'beginning'
> {
  readonly body: Buffer;
}

/** Runs generations on workers. */
@Injectable()
export class TextGenerationService {
  constructor(
    private readonly inference: InferenceService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @param output receives the answer while it is made; absent: the whole answer is
   *   in the reply
   */
  start(
    caller: InferenceCaller,
    { model, task, beginning, body }: Generation,
    output?: GenerationOutputStream,
  ): InferenceRequest {
    const { generationTimeoutMs: timeoutMs, generationIdleMs: idleMs } =
      this.settings.inference;
    const work = {
      model: model.id,
      affinity: affinityOf(caller.tenant, beginning),
      bytes: body.length,
      audioDurationS: 0,
      timeoutMs,
      payload: { kind: 'generate', ...task, body, ...(output && { sink: output }) },
    } as const;
    return this.inference.start(caller, work, output && { output, idleMs });
  }
}
