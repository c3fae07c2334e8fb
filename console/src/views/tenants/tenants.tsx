import { request } from '../../api/client';
import { useResource } from '../../api/resource';
import { count, duration } from '../../ui/format';
import { Card, Page } from '../../ui/parts';
import { Blank, Loaded } from '../../ui/states';
import { Keys } from './keys';
import { Usage } from './usage';

interface Tenant {
  readonly id: string;
  readonly keys: number;
  readonly limits: Readonly<Record<string, number>> | null;
  readonly usage_today: { requests: number; audio_s: number; input_tokens: number; output_tokens: number };
}

export default function Tenants() {
  return (
    <Page title="Tenants and keys" lead="Who may ask, how much they may ask, and what they have used.">
      <TenantTable />
      <Keys />
      <Usage />
    </Page>
  );
}

function TenantTable() {
  const list = useResource(
    async signal => (await (await request('/admin/v1/tenants', { signal })).json()) as { data: Tenant[] },
    'tenants',
    10_000,
  );
  return (
    <Card title="Tenants" aside="used today, UTC">
      <Loaded from={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Blank icon="tenants" title="No tenants">
              The first key makes the first tenant.
            </Blank>
          ) : (
            <div class="table-box flush" tabIndex={0} role="region" aria-label="Tenants">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Tenant</th>
                    <th scope="col" class="number">
                      Keys
                    </th>
                    <th scope="col">Limits</th>
                    <th scope="col" class="number">
                      Requests
                    </th>
                    <th scope="col" class="number">
                      Audio
                    </th>
                    <th scope="col" class="number">
                      Tokens in, out
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {data.map(({ id, keys, limits, usage_today: used }) => (
                    <tr key={id}>
                      <th scope="row">{id}</th>
                      <td class="number">{count(keys)}</td>
                      <td class="muted">{limitsOf(limits)}</td>
                      <td class="number">{count(used.requests)}</td>
                      <td class="number">{duration(used.audio_s * 1000)}</td>
                      <td class="number">
                        {count(used.input_tokens)}, {count(used.output_tokens)}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}

const limitsOf = (limits: Tenant['limits']): string =>
  Object.entries(limits ?? {})
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${count(value)} ${name.replaceAll('_', ' ')}`)
    .join(', ') || 'none';
