import { useGet } from '../../api/resource';
import { go, href, place } from '../../router';
import { Page } from '../../ui/parts';
import { Loaded } from '../../ui/states';
import { Tabs } from '../../ui/tabs';
import { Chat } from './chat';
import { Live } from './live';
import type { Listed } from './panel';
import { Speak } from './speak';
import { Transcribe } from './transcribe';

const MODES = [
  ['transcribe', 'Transcribe', Transcribe],
  ['speak', 'Speak', Speak],
  ['chat', 'Chat', Chat],
  ['live', 'Live', Live],
] as const;

/** Every kind of request by hand, and how a program sends the same. */
export function Playground() {
  const models = useGet('/v1/models');
  const { view, query } = place.value;
  const wanted = view === 'realtime' ? 'live' : (query.get('mode') ?? '');
  const mode = MODES.some(([value]) => value === wanted) ? wanted : 'transcribe';
  const panels = (models: readonly Listed[]) =>
    MODES.map(([value, label, Panel]) => ({
      value,
      label,
      content: () => <Panel models={models} wanted={query.get('model') ?? ''} />,
    }));
  return (
    <Page title="Playground" lead="Send requests by hand, and copy the code that does the same.">
      <Loaded from={models}>
        {({ data }) => (
          <Tabs
            label="Kind of request"
            value={mode}
            onChange={next => go(href('playground', undefined, { mode: next }), { replace: true })}
            of={panels(data)}
          />
        )}
      </Loaded>
    </Page>
  );
}
