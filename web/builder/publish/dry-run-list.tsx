import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Loading } from '../../design/states.tsx';
import { nodeAt, type NodeKey } from '../model/edit-node.ts';
import type { Moment } from '../model/history.ts';
import type { BuilderApi } from '../saving/builder-api.ts';
import { documentOf } from '../saving/use-saving.ts';
import { locate, type SettingProblem } from '../settings/setting-problems.ts';

/** Where texts are translated. */
const translations = (message: string): SettingProblem => locate({ field: 'translations', message })!;

type DryRunProps = {
  readonly api: BuilderApi;
  readonly etag: string;
  readonly edited: Moment;
  readonly onShow: (place: NodeKey | SettingProblem) => void;
};

/** What the service says of a publication before it is made: which answers it touches, and whom the form keeps out. */
export function DryRunList({ api, etag, edited, onShow }: DryRunProps): ReactElement {
  const { root, settings } = edited;
  const tried = useQuery({
    queryKey: ['forms', api.formId, 'dry-run', etag, root, settings],
    queryFn: () => api.tryOut(documentOf(edited), etag),
    staleTime: 0,
    gcTime: 0,
  });
  if (tried.isPending) return <Loading lines={1} />;
  if (tried.error)
    return <p className="soft">What this does to stored answers is not known: {tried.error.message}</p>;
  const { warnings } = tried.data;
  // What nobody has answered is no matter of answers: it stands among the differences.
  const impact = tried.data.impact.filter(({ answers }) => answers !== 0);
  return (
    <>
      {impact.length > 0 && (
        <section className="stack-tight">
          <h3>What it does to answers</h3>
          <ul role="list" className="stack-tight">
            {impact.map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
          </ul>
          <p className="soft">Stored answers stay as they are: in the table, in exports and in search.</p>
        </section>
      )}
      {warnings.length > 0 && (
        <section className="stack-tight">
          <h3>What could be better</h3>
          <ul role="list" className="stack-tight">
            {warnings.map(({ message, path, rule }) => (
              <li key={`${path.join('.')} ${message}`}>
                <button
                  type="button"
                  className="link-button"
                  onClick={() =>
                    onShow(rule === 'untranslated' ? translations(message) : nodeAt(root, path).key)
                  }
                >
                  {message}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
