import { useSignal } from '@preact/signals';
import type { Answer } from '../../api/client';
import { useGet } from '../../api/resource';
import { bound, Select } from '../../ui/controls';
import { count, duration } from '../../ui/format';
import { Card, Page } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';
import { type Column, Table } from '../../ui/table';
import { Keys } from './keys';
import { Usage } from './usage';

type Tenant = Answer<'/admin/v1/tenants'>['data'][number];

const limitsOf = (limits: object): string =>
  (Object.entries(limits) as [string, number][])
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${count(value)} ${name.replaceAll('_', ' ')}`)
    .join(', ') || 'none';

const COLUMNS: readonly Column<Tenant>[] = [
  ['Tenant', ({ id }) => id],
  ['Keys', ({ keys }) => count(keys), 'number'],
  ['Limits', ({ limits }) => <span class="muted">{limitsOf(limits)}</span>],
  ['Requests', ({ usage_today: used }) => count(used.requests), 'number'],
  ['Audio', ({ usage_today: used }) => duration(used.audio_s * 1000), 'number'],
  [
    'Tokens in, out',
    ({ usage_today: used }) => `${count(used.input_tokens)}, ${count(used.output_tokens)}`,
    'number',
  ],
];

const ORDERS = [
  ['requests', 'Most requests first'],
  ['name', 'By name'],
] as const;

export function Tenants() {
  const list = useGet('/admin/v1/tenants', { everyMs: 10_000 });
  const order = useSignal('requests');
  const text = useSignal('');
  const shown = (all: readonly Tenant[]) =>
    all
      .filter(({ id }) => id.includes(text.value.trim()))
      .sort(({ id, ...a }, b) =>
        order.value === 'name'
          ? id.localeCompare(b.id)
          : b.usage_today.requests - a.usage_today.requests,
      );
  const tools = (
    <>
      usage of today, UTC
      <input
        type="search"
        aria-label="Tenants with this text"
        placeholder="Search"
        value={text.value}
        onInput={event => (text.value = event.currentTarget.value)}
      />
      <Select bare label="Order" of={ORDERS} {...bound(order)} />
    </>
  );
  return (
    <Page
      title="Tenants and keys"
      lead="Who can send requests, with which limits, and what they have used."
    >
      <Card title="Tenants" aside={tools}>
        <Loaded from={list} none={<Blank icon="tenants" title="No tenants" />}>
          {({ data }) => <Table label="Tenants" of={shown(data)} columns={COLUMNS} />}
        </Loaded>
      </Card>
      <Keys />
      <Usage />
    </Page>
  );
}
