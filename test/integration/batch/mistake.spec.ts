import { describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { trace } from '@opentelemetry/api';
import { BatchModule } from '../../../src/batch/batch.module.js';
import { LineSender } from '../../../src/batch/execute/line-sender.js';
import { answerLine } from '../../../src/batch/job/output-line.js';
import { BatchProcessor } from '../../../src/batch/runner/batch-processor.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { BatchHarness, chatLine } from '../../support/batch-harness.js';
import { expectWholeBatch } from '../../support/batch-invariants.js';

const GOOD = 25;
const IDS = Array.from({ length: 60 }, (_, index) => `line-${index}`);

/** Answers some lines, then does what no outage explains. */
class MistakenSender {
  #sent = 0;

  async attempt({
    ticket,
    input,
  }: Parameters<LineSender['attempt']>[0]): ReturnType<LineSender['attempt']> {
    if (++this.#sent > GOOD) throw new TypeError('x is not a function');
    const { custom_id: id } = JSON.parse((await input.read(ticket.entry)).toString()) as {
      custom_id: string;
    };
    const line = answerLine(JSON.stringify(id), 200, id, '{}');
    return { kind: 'O', line };
  }
}

describe('a mistake of ours in the middle of a batch', () => {
  it('ends it as failed with the reason: results so far are kept, every other line is batch_failed', async () => {
    await using harness = await BatchHarness.open();
    const { id } = await harness.submit(IDS.map(customId => chatLine(customId)));
    const settings = settingsFrom({
      ...{
        'data.dir': harness.dataDir,
        'logging.level': 'silent',
        'batch.poll_ms': 50,
        'batch.grace_ms': 1000,
      },
    });
    const tracer = trace.getTracer('none');
    const module = await Test.createTestingModule({
      imports: [BatchModule.forProcessor(settings, [], undefined, tracer)],
    })
      .overrideProvider(LineSender)
      .useValue(new MistakenSender())
      .compile();
    module.useLogger(false);
    const application = await module.init();
    try {
      await application.get(BatchProcessor).start();
      await expectPartialFailure(harness, id);
    } finally {
      await application.get(BatchProcessor).stop();
      await application.close();
    }
  });
});

async function expectPartialFailure(harness: BatchHarness, id: string): Promise<void> {
  const ended = await harness.untilEnd(id);
  expect(ended).toMatchObject({
    status: 'failed',
    problems: [{ code: 'internal_error', line: null }],
  });
  const { output, errors } = await expectWholeBatch(harness, id, IDS);
  expect(output).toHaveLength(GOOD);
  expect(errors).toHaveLength(IDS.length - GOOD);
  for (const { response, error } of errors) {
    expect(response).toBeNull();
    expect(error).toMatchObject({
      code: 'batch_failed',
      message: expect.stringContaining('batch failed'),
    });
  }
}
