import { expect, it } from '@jest/globals';
import { makePool, modelSpec } from '../../../test/support/pool-harness.js';
import { until } from '../../../test/support/waiting.js';
import { ModelList } from '../../platform/config/config.module.js';

it('follows the models: what is new is added, what is another is replaced, what is gone is removed', async () => {
  let models = ['same', 'other', 'gone'].map(id => modelSpec({ id }));
  const list = new ModelList(models, () => models);
  const pool = makePool({ models: list });
  const [same, other] = ['same', 'other'].map(id => pool.of(id));
  models = [
    modelSpec({ id: 'same' }),
    modelSpec({ id: 'other', languages: ['en'] }),
    modelSpec({ id: 'new' }),
  ];
  list.reload();
  await until(() => !pool.of('gone') && pool.of('other') !== other);
  expect([pool.of('same'), pool.of('other')?.id, pool.of('new')?.id]).toEqual([
    same,
    'other',
    'new',
  ]);
});
