import { isAdmin } from '../../api/session';
import { useStatus } from '../../api/status';

/** One sentence: what binds now, and what would help. */
export function Bottleneck() {
  const { data } = useStatus(isAdmin.value);
  if (!data) return <>Requests on their way from arrival to answer.</>;
  if (!data.bottleneck) return <span class="state good">Nothing holds requests back.</span>;
  return (
    <span class="state warn bottleneck" role="status">
      {data.bottleneck.text}
    </span>
  );
}
