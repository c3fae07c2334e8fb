import { useSignal } from '@preact/signals';
import type { Answer } from '../../api/client';
import { useGet } from '../../api/resource';
import { bound, Select } from '../../ui/controls';
import { count, duration } from '../../ui/format';
import { Card } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';
import { type Column, Table } from '../../ui/table';

const DAYS = [
  ['1', 'Today'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;
const GROUPS = [
  ['day,tenant', 'Day and tenant'],
  ['tenant,model', 'Tenant and model'],
  ['day', 'Day'],
  ['model', 'Model'],
] as const;

const COLUMNS: readonly Column<Answer<'/admin/v1/usage'>['data'][number]>[] = [
  ['Group', ({ day, tenant, model }) => [day, tenant, model].filter(Boolean).join(', ')],
  ['Requests', row => count(row.requests), 'number'],
  ['Failed', row => count(row.failed), 'number'],
  ['Audio', row => duration(row.audio_s * 1000), 'number'],
  ['Characters', row => count(row.characters), 'number'],
  ['Tokens in', row => count(row.input_tokens), 'number'],
  ['Tokens out', row => count(row.output_tokens), 'number'],
  ['Device time', row => duration(row.device_ms), 'number'],
];

const dayBefore = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

export function Usage() {
  const days = useSignal('7');
  const group = useSignal<string>(GROUPS[0][0]);
  const query = {
    from: dayBefore(Number(days.value) - 1),
    to: dayBefore(0),
    group_by: group.value,
  };
  const list = useGet('/admin/v1/usage', { query, everyMs: 30_000 });
  const choices = (
    <>
      <Select bare label="Days" of={DAYS} {...bound(days)} />
      <Select bare label="Grouped by" of={GROUPS} {...bound(group)} />
    </>
  );
  return (
    <Card title="Usage" aside={choices}>
      <Loaded from={list} none={<Blank title="No usage in this period" />}>
        {({ data }) => <Table label="Usage" of={data} columns={COLUMNS} />}
      </Loaded>
    </Card>
  );
}
