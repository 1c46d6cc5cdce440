import './difference-list.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactElement, Suspense, useMemo, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { checkFilter } from '#ast/logic/check-condition.ts';
import type { Settings } from '#ast/settings.ts';
import { hostOf } from '#rules/url-problem.ts';
import { ApiProblem } from '../../api/client.ts';
import { fillLabels } from '../../conditions/condition-tree.ts';
import { PipedText } from '../../design/author-text.tsx';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message, type Tone } from '../../design/message.tsx';
import { Loading } from '../../design/states.tsx';
import { webhooksQuery } from '../../webhooks/webhooks-query.ts';
import { type DescribedDifference, describeNode, listFormDifferences } from '../model/compare.ts';
import { type EditNode, findNode, type NodeKey, nodeAt, parseEditableTree } from '../model/edit-node.ts';
import { finderIn } from '../model/form-index.ts';
import { type LocatedProblem, rewriteProblem, validateRoot } from '../model/form-problems.ts';
import type { EditSnapshot } from '../model/history.ts';
import type { BuilderApi, OpenedForm } from '../saving/autosave.ts';
import { documentOf } from '../saving/use-saving.ts';
import { compareSettings, locateSettingProblem, type SettingProblem } from '../settings/settings-values.ts';
import './launch-dialog.css';
import { CopyButton, CopyField } from '../../design/copy-button.tsx';
import { Icon } from '../../design/icon.tsx';
import { embedSnippet } from '../share/links.ts';

const tones: Readonly<Record<DescribedDifference['kind'], [word: string, tone: Tone]>> = {
  added: ['Added', 'good'],
  removed: ['Removed', 'bad'],
  changed: ['Changed', 'info'],
  moved: ['Moved', 'warn'],
};

/**
 * Compares a stored form with the edited one, in either direction. Returns undefined if a form cannot be
 * read. Settings that were not recorded count as equal.
 */
export function compareDocuments(
  stored: { readonly structure: object; readonly settings: Settings | null },
  edited: Pick<EditSnapshot, 'root' | 'settings'>,
  from: 'stored' | 'edited' = 'stored',
): readonly DescribedDifference[] | undefined {
  const read = parseEditableTree(stored.structure);
  if (!read.ok) return undefined;
  const other = { root: read.root, settings: stored.settings ?? edited.settings };
  const [before, after] = from === 'stored' ? [other, edited] : [edited, other];
  const find = (id: string): EditNode | undefined => finderIn(after.root)(id) ?? finderIn(before.root)(id);
  return [
    ...listFormDifferences(before.root, after.root),
    ...compareSettings(before.settings, after.settings),
  ].map((found) => ({ ...found, details: found.details.map((detail) => fillLabels(detail, find)) }));
}

/** Lists differences in words. `none` is shown if there are none. */
export function DifferenceList({
  differences,
  none,
}: {
  differences: readonly DescribedDifference[];
  none: string;
}): ReactElement {
  if (differences.length === 0) return <p className="soft">{none}</p>;
  return (
    <ul role="list" className="differences">
      {differences.map(({ kind, subject, details }, index) => (
        <li key={index}>
          <Chip tone={tones[kind][1]}>{tones[kind][0]}</Chip>
          <div>
            <span>
              <PipedText text={subject} />
            </span>
            {details.map((detail) => (
              <p key={detail} className="soft small">
                <PipedText text={detail} />
              </p>
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Returns a problem that links to the view for translations. */
const translations = (message: string): SettingProblem =>
  locateSettingProblem({ field: 'translations', message })!;

type DryRunProps = {
  readonly api: BuilderApi;
  readonly etag: string;
  readonly edited: EditSnapshot;
  readonly onShow: (place: NodeKey | SettingProblem) => void;
};

/** Shows the result of the server's dry run: affected answers, and warnings. */
function DryRunList({ api, etag, edited, onShow }: DryRunProps): ReactElement {
  const { root, settings } = edited;
  const tried = useQuery({
    queryKey: ['forms', api.formId, 'dry-run', etag, root, settings],
    queryFn: () => api.tryOut(documentOf(edited), etag),
    staleTime: 0,
    gcTime: 0,
  });
  if (tried.isPending) return <Loading lines={1} />;
  if (tried.error)
    return <p className="soft">Could not check the effect on stored answers: {tried.error.message}</p>;
  const { warnings } = tried.data;
  // Changes that affect no stored answers are only shown among the differences.
  const impact = tried.data.impact.filter(({ answers }) => answers !== 0);
  return (
    <>
      {impact.length > 0 && (
        <section className="stack-tight">
          <h3>Effect on stored answers</h3>
          <ul role="list" className="stack-tight">
            {impact.map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
          </ul>
          <p className="soft">Stored answers stay unchanged in the table, in exports and in search.</p>
        </section>
      )}
      {warnings.length > 0 && (
        <section className="stack-tight">
          <h3>Suggestions</h3>
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

/**
 * Lists webhooks whose filter refers to removed elements. The form can still be published
 * (docs/decisions/0025).
 */
function FilterWarnings({ root, form }: { root: EditNode; form: OpenedForm['form'] }): ReactElement | null {
  const webhooks = useQuery(webhooksQuery(form)).data?.data;
  const result = validateRoot(root);
  if (!webhooks || !result.ok) return null;
  return (
    <>
      {webhooks.map(({ id, url, filter }) => {
        const problems = filter ? checkFilter(result.form, filter) : [];
        if (problems.length === 0) return null;
        const messages = new Set(problems.map(({ message }) => message));
        return (
          <Message key={id} tone="warn">
            <p>
              The webhook to{' '}
              <Link to="/forms/$form/webhooks/$webhook" params={{ form: form.id, webhook: id }}>
                {hostOf(url)}
              </Link>{' '}
              has a filter that does not match this form. Publishing changes which submissions it receives.
            </p>
            {[...messages].map((message) => (
              <p key={message}>{message}</p>
            ))}
          </Message>
        );
      })}
    </>
  );
}

type PublishProps = {
  readonly api: BuilderApi;
  /** The ETag of the last saved working copy. */
  readonly etag: string;
  readonly edited: EditSnapshot;
  readonly opened: OpenedForm;
  readonly problems: readonly LocatedProblem[];
  readonly settingProblems: readonly SettingProblem[];
  /** Whether the JSON view has unapplied edits. */
  readonly isJsonOpen: boolean;
  readonly onClose: () => void;
  /** Saves pending changes and publishes. Throws if the server refuses to. */
  readonly onPublish: () => Promise<void>;
  readonly onShow: (place: NodeKey | SettingProblem) => void;
};

/** Shows what publishing changes for visitors, and what prevents it (docs/rules.md B5). */
export function PublishDialog({
  api,
  etag,
  edited,
  opened,
  problems,
  settingProblems,
  isJsonOpen,
  onClose,
  onPublish,
  onShow,
}: PublishProps): ReactElement {
  const [isPending, setPending] = useState(false);
  const [refusal, setRefusal] = useState<Error | undefined>();
  const wasPublished = opened.form.published_at !== null;
  const isLive = opened.form.status === 'published';
  const differences = useMemo(() => compareDocuments(opened.live, edited) ?? [], [opened.live, edited]);
  const isBlocked = problems.length + settingProblems.length > 0;
  const publish = (): void => {
    setPending(true);
    setRefusal(undefined);
    onPublish().catch((error: unknown) => {
      setPending(false);
      setRefusal(error instanceof Error ? error : new Error('The form could not be published.'));
    });
  };
  return (
    <Dialog
      title={isLive ? 'Publish changes' : 'Publish this form'}
      onClose={onClose}
      size="medium"
      description={isBlocked ? undefined : descriptionOf(isLive, wasPublished)}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="primary"
            icon="send"
            onPress={publish}
            isPending={isPending}
            isDisabled={isBlocked || (isLive && differences.length === 0)}
          >
            Publish
          </Button>
        </>
      }
    >
      {refusal && <Refusal refusal={refusal} onShow={onShow} />}
      {isBlocked && (
        <Problems edited={edited} problems={problems} settingProblems={settingProblems} onShow={onShow} />
      )}
      {isJsonOpen && (
        <Message tone="warn">The text in the JSON view is not applied yet and will not be published.</Message>
      )}
      {opened.draft.base_version < opened.live.version && (
        <Message tone="warn">
          The live form changed while you were editing. Publishing replaces those changes, but the history
          keeps them.
        </Message>
      )}
      <FilterWarnings root={edited.root} form={opened.form} />
      {wasPublished && (
        <section className="stack-tight">
          <h3>{isLive ? 'Changes' : 'Changes since the form was last live'}</h3>
          <DifferenceList
            differences={differences}
            none="No changes: the live form matches the working copy."
          />
        </section>
      )}
      {!isBlocked && <DryRunList api={api} etag={etag} edited={edited} onShow={onShow} />}
    </Dialog>
  );
}

function descriptionOf(isLive: boolean, wasPublished: boolean): string {
  if (isLive) return 'Changes go live immediately. Existing submissions keep the version they answered.';
  return wasPublished
    ? 'Anyone with the link will be able to fill it in again.'
    : 'Anyone with the link can fill it in. Field IDs cannot change after publishing.';
}

type ShowProps = Pick<PublishProps, 'onShow'>;

/** Shows why the server refused to publish, with a link to the field of each error. */
function Refusal({ refusal, onShow }: ShowProps & { readonly refusal: Error }): ReactElement {
  const errors = refusal instanceof ApiProblem ? refusal.errors : [];
  return (
    <Message tone="bad" title={refusal.message}>
      {errors.map((error) => {
        const problem = locateSettingProblem(error);
        return problem ? (
          <SettingLink key={problem.field} problem={problem} onShow={onShow} />
        ) : (
          <p key={error.message}>{error.message}</p>
        );
      })}
    </Message>
  );
}

function SettingLink({ problem, onShow }: ShowProps & { readonly problem: SettingProblem }): ReactElement {
  return (
    <button type="button" className="link-button" onClick={() => onShow(problem)}>
      {problem.title}: {problem.message}
    </button>
  );
}

function Problems({
  edited: { root },
  problems,
  settingProblems,
  onShow,
}: ShowProps & Pick<PublishProps, 'edited' | 'problems' | 'settingProblems'>): ReactElement {
  const count = problems.length + settingProblems.length;
  return (
    <div className="publish-problems" role="alert">
      <h3>{formatCount(count, 'problem prevents', 'problems prevent')} publishing</h3>
      <ul>
        {problems.map(({ key, message }, index) => {
          const node = findNode(root, key);
          return (
            <li key={index}>
              <button type="button" className="link-button" onClick={() => onShow(key)}>
                <PipedText text={node ? describeNode(root, node) : 'Form'} />: {rewriteProblem(message, node)}
              </button>
            </li>
          );
        })}
        {settingProblems.map((problem, index) => (
          <li key={`setting ${index}`}>
            <SettingLink problem={problem} onShow={onShow} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const ShareQrCode = lazy(async () => ({ default: (await import('../share/share-qr-code.tsx')).ShareQrCode }));

const nextScreens = [
  { to: '/forms/$form/invitations', icon: 'mail', label: 'Invite people' },
  { to: '/forms/$form/submissions', icon: 'table', label: 'View submissions' },
] as const;

/** Shown when a form goes live: the link, ready to copy, and other ways to reach visitors. */
export function FormLiveDialog({
  form: { id, name, public_url: url },
  onClose,
}: {
  form: OpenedForm['form'];
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title="Your form is live"
      onClose={onClose}
      size="medium"
      description="Anyone with the link can fill it in."
      actions={<Button onPress={onClose}>Done</Button>}
    >
      <div className="launch-link">
        <code className="copy-text">{url}</code>
        <CopyButton text={url} label="Copy link" variant="primary" autoFocus />
      </div>
      <div className="row">
        <a className="button button-secondary button-medium" href={url} target="_blank" rel="noopener">
          <span className="button-content">
            <Icon name="external" />
            Open
          </span>
        </a>
        {nextScreens.map(({ to, icon, label }) => (
          <Link key={to} className="button button-secondary button-medium" to={to} params={{ form: id }}>
            <span className="button-content">
              <Icon name={icon} />
              {label}
            </span>
          </Link>
        ))}
      </div>
      <Suspense fallback={<div className="launch-code" />}>
        <ShareQrCode text={url} name={name} />
      </Suspense>
      <CopyField label="Embed code" text={embedSnippet(url, { parameters: [] })} isMultiline />
    </Dialog>
  );
}
