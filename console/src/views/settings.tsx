import { useSignal } from '@preact/signals';
import { type Answer, get } from '../api/client';
import { useResource } from '../api/resource';
import { plural } from '../ui/format';
import { Card, Page } from '../ui/parts';
import { Blank, Loaded } from '../ui/states';

type Setting = Answer<'/admin/v1/settings'>['data'][number];

const shown = (value: unknown): string => (value === '' || value === null ? 'empty' : String(value));

export default function Settings() {
  const list = useResource(signal => get('/admin/v1/settings', { signal }), 'settings');
  const search = useSignal('');
  const changedOnly = useSignal(false);
  return (
    <Page
      title="Settings"
      lead="What is in effect, and where it came from. They are changed in the file or by variables."
    >
      <form class="filters" role="search" aria-label="Settings" onSubmit={event => event.preventDefault()}>
        <label class="field">
          Find
          <input type="search" value={search.value} onInput={event => (search.value = event.currentTarget.value)} />
        </label>
        <label class="inline check">
          <input
            type="checkbox"
            checked={changedOnly.value}
            onChange={event => (changedOnly.value = event.currentTarget.checked)}
          />
          Only those that differ from the default
        </label>
      </form>
      <Loaded from={list} rows={8}>
        {({ data }) => (
          <Table
            of={data.filter(
              each =>
                (!changedOnly.value || each.source !== 'default') &&
                `${each.name} ${each.description}`.toLowerCase().includes(search.value.toLowerCase()),
            )}
          />
        )}
      </Loaded>
    </Page>
  );
}

function Table({ of: settings }: { of: readonly Setting[] }) {
  return (
    <Card title={plural(settings.length, 'setting')}>
      {settings.length === 0 ? (
        <Blank icon="settings" title="No setting matches" />
      ) : (
        <div class="table-box" tabIndex={0} role="region" aria-label="Settings">
          <table>
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
                <th scope="col">From</th>
                <th scope="col">Default</th>
              </tr>
            </thead>
            <tbody>
              {settings.map(each => (
                <tr key={each.name}>
                  <th scope="row" class="setting">
                    <code title={each.variable}>{each.name}</code>
                    <span class="muted">{each.description}</span>
                  </th>
                  <td>
                    {each.secret ? (
                      <i class="muted">{each.set ? 'secret, set' : 'not set'}</i>
                    ) : (
                      <code>{shown(each.value)}</code>
                    )}
                  </td>
                  <td>
                    <span class={`tag ${each.source === 'default' ? '' : 'realtime'}`}>{each.source}</span>
                  </td>
                  <td class="muted">{each.secret ? '' : shown(each.default)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
