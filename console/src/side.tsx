import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { session, signOut } from './api/session';
import { feedProblem, feedState } from './live/feed';
import { href, place } from './router';
import { attempt } from './ui/actions';
import { Button } from './ui/controls';
import { Icon } from './ui/icons';
import { switchTheme, theme } from './ui/theme';
import { visibleViews } from './views';

const FEED = {
  live: ['good', 'Live'],
  lost: ['bad', 'Not connected'],
  connecting: ['idle', 'Connecting'],
} as const;

export const Brand = () => (
  <a class="brand" href={href('now')}>
    <svg class="icon" width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M3 9h8c6 0 6 14 12 14h6M3 23h8M23 9h6M17 9h-2" />
    </svg>
    Switchyard
  </a>
);

export function Side({ current }: { current: string }) {
  const open = useSignal(false);
  useEffect(() => void (open.value = false), [place.value]);
  return (
    <header class={`side ${open.value ? 'open' : ''}`}>
      <Brand />
      <Button
        aria-expanded={open.value}
        aria-controls="views"
        act={() => (open.value = !open.value)}
      >
        Menu
      </Button>
      <nav id="views" aria-label="Views">
        <ul>
          {visibleViews.value.map(({ name, title }) => (
            <li key={name}>
              <a href={href(name)} aria-current={name === current ? 'page' : undefined}>
                <Icon name={name} /> {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Foot />
    </header>
  );
}

function Foot() {
  const dark = theme.value === 'dark';
  const [tone, said] = FEED[feedState.value];
  return (
    <div class="side-foot">
      <span class={`state ${tone}`} role="status" title={feedProblem.value}>
        {said}
      </span>
      {session.value?.keys_required && <span>Tenant {session.value.tenant}</span>}
      <div class="inline side-tools">
        <Button kind="quiet" act={switchTheme}>
          <Icon name={dark ? 'sun' : 'moon'} size={16} /> {dark ? 'Light' : 'Dark'}
        </Button>
        {session.value?.keys_required && (
          <Button kind="quiet" act={() => attempt(signOut, 'Signed out.')}>
            <Icon name="signOut" size={16} /> Sign out
          </Button>
        )}
      </div>
    </div>
  );
}
