import type { Example } from '../views/playground/examples';
import { CopyButton } from './parts';
import { Tabs } from './tabs';

/** How to do the same from a terminal or a program. */
export function Snippet({ of }: { of: Example }) {
  const panel = (text: string) => () => (
    <div class="snippet">
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} />
    </div>
  );
  return (
    <Tabs
      label="Language"
      of={[
        { value: 'curl', label: 'curl', content: panel(of.curl) },
        { value: 'python', label: 'Python', content: panel(of.python) },
        { value: 'javascript', label: 'JavaScript', content: panel(of.javascript) },
      ]}
    />
  );
}
