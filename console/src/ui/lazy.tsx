import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/client';
import { Problem, Skeleton } from './states';

/**
 * A view whose code is fetched when it is first opened. A new version of the gateway has
 * other files: load again.
 */
export function lazy(load: () => Promise<{ default: ComponentType }>): ComponentType {
  let known: ComponentType | undefined;
  return function Lazy() {
    const [state, setState] = useState<{
      View?: ComponentType | undefined;
      error?: ApiError;
    }>({ View: known });
    useEffect(() => {
      if (known) return;
      load().then(
        module => setState({ View: (known = module.default) }),
        () =>
          setState({
            error: new ApiError(0, 'unreachable', 'This view could not be loaded.'),
          }),
      );
    }, []);
    if (state.error) return <Problem error={state.error} retry={() => location.reload()} />;
    return state.View ? <state.View /> : <Skeleton rows={6} />;
  };
}
