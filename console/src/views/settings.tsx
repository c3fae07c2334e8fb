import { useSignal } from '@preact/signals';
import type { Answer } from '../api/client';
import { useGet } from '../api/resource';
import { Button, Field } from '../ui/controls';
import { Finding } from '../ui/finding';
import { bytes, duration, plural } from '../ui/format';
import { Card, Page } from '../ui/parts';
import { Blank, Loaded } from '../ui/states';
import { below, type Column, Table } from '../ui/table';

type Setting = Answer<'/admin/v1/settings'>['data'][number];

/** A number with the unit that its name ends with. */
function shown(name: string, value: Setting['value']): string {
  if (value === '' || value === null) return 'empty';
  if (typeof value !== 'number' || value === 0) return String(value);
  if (name.endsWith('_ms')) return duration(value);
  if (name.endsWith('_s')) return duration(value * 1000);
  return name.endsWith('bytes') ? bytes(value) : String(value);
}

const isChanged = ({ secret, set, value, default: usual }: Setting): boolean =>
  secret ? set : value !== usual;

export function Settings() {
  const list = useGet('/admin/v1/settings');
  const search = useSignal('');
  const changedOnly = useSignal(false);
  return (
    <Page
      title="Settings"
      lead="Effective values and their sources. Change them in the settings file or by variables."
    >
      <Doctor />
      <form
        class="filters"
        role="search"
        aria-label="Settings"
        onSubmit={event => event.preventDefault()}
      >
        <Field label="Find">
          <input
            type="search"
            value={search.value}
            onInput={event => (search.value = event.currentTarget.value)}
          />
        </Field>
        <label class="inline check">
          <input
            type="checkbox"
            checked={changedOnly.value}
            onChange={event => (changedOnly.value = event.currentTarget.checked)}
          />
          Changed ones only
        </label>
      </form>
      <Loaded from={list} rows={8}>
        {({ data }) => {
          const found = data.filter(
            each =>
              (!changedOnly.value || isChanged(each)) &&
              `${each.name} ${each.description}`.toLowerCase().includes(search.value.toLowerCase()),
          );
          const isAsked = changedOnly.value || search.value !== '';
          const first = found.filter(each => isAsked || !each.advanced || isChanged(each));
          const rest = found.filter(each => !first.includes(each));
          return (
            <Card title={plural(first.length, 'setting')}>
              {first.length === 0 ? (
                <Blank icon="settings" title="No setting matches" />
              ) : (
                <Table label="Settings" of={first} columns={COLUMNS} />
              )}
              {rest.length > 0 && (
                <details>
                  <summary>{plural(rest.length, 'advanced setting')}</summary>
                  <Table label="Advanced settings" of={rest} columns={COLUMNS} />
                </details>
              )}
            </Card>
          );
        }}
      </Loaded>
    </Page>
  );
}

const COLUMNS: readonly Column<Setting>[] = [
  [
    'Setting',
    ({ name, variable, description }) => [<code title={variable}>{name}</code>, below(description)],
  ],
  [
    'Value',
    ({ name, secret, set, value }) =>
      secret ? (
        <i>{set ? 'secret, set' : 'not set'}</i>
      ) : (
        <code title={String(value)}>{shown(name, value)}</code>
      ),
  ],
  [
    'From',
    each => (
      <span class={`tag ${isChanged(each) ? 'realtime' : ''}`} title={each.origin}>
        {isChanged(each) ? each.source : 'default'}
      </span>
    ),
  ],
  [
    'Default',
    each => <span class="muted">{each.secret ? '' : shown(each.name, each.default)}</span>,
  ],
];

/**
 * What `switchyard doctor` says of the machine of the gateway, without what is in order.
 */
function Doctor() {
  const doctor = useGet('/admin/v1/doctor');
  const again = <Button act={doctor.reload}>Check again</Button>;
  return (
    <Card title="Checks of this machine" aside={again}>
      <Loaded from={doctor} rows={2}>
        {({ checks }) => {
          const found = checks.filter(({ state }) => state !== 'ok');
          if (found.length === 0)
            return <p class="state good">All {plural(checks.length, 'check')} passed.</p>;
          return (
            <ul class="stack">
              {found.map(({ what, state, detail, fix }) => (
                <Finding
                  key={`${what} ${detail}`}
                  name={what}
                  state={state === 'fail' ? 'failed' : 'warning'}
                >
                  <span>{detail}</span>
                  {fix && <code class="muted">{fix}</code>}
                </Finding>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}
