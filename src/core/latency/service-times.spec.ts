import { expect, it } from '@jest/globals';
import { ServiceTimes } from './service-times.js';

it('what was learned of one model says nothing of another', () => {
  const times = new ServiceTimes();
  const { costs, answers, groups } = times.of('m');
  costs.observe({ input: 10 }, 500);
  answers.observe({ costMs: 10, readyMs: 0, computeMs: 100, predictedMs: undefined }, 0);
  groups.observe({ phases: { grpcMs: 100, readyMs: 0 } });
  const known = (model: string) => {
    const own = times.of(model);
    return [
      own.costs.estimateMs({ input: 1 }),
      own.answers.estimate({ costMs: 10 }, false, 0).answerMs,
      own.groups.known,
    ];
  };
  expect([known('m'), known('other')]).toEqual([
    [50, 100, true],
    [1, 0, false],
  ]);
});
