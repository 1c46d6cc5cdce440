import './difference-list.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactElement, Suspense, useMemo, useState } from 'react';
import { sayCount } from '#ast/basics/say-count.ts';
import { checkFilter } from '#ast/logic/check-condition.ts';
import type { Settings } from '#ast/settings.ts';
import { hostOf } from '#rules/url-problem.ts';
import { ApiProblem } from '../../api/client.ts';
import { Button } from '../../design/button.tsx';
import { Chip } from '../../design/chip.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message, type Tone } from '../../design/message.tsx';
import { Loading } from '../../design/states.tsx';
import { webhooksQuery } from '../../webhooks/webhooks-query.ts';
import { compareForms, type Difference, sayNode } from '../model/compare.ts';
import { type EditNode, findNode, type NodeKey, nodeAt, readStructure } from '../model/edit-node.ts';
import type { Moment } from '../model/history.ts';
import { type LocatedProblem, sayProblem, validateRoot } from '../model/say-problem.ts';
import type { BuilderApi, BuilderForm } from '../saving/autosave.ts';
import { documentOf } from '../saving/use-saving.ts';
import { compareSettings, locate, type SettingProblem } from '../settings/settings-values.ts';
import './launch-dialog.css';
import { CopyButton, CopyField } from '../../design/copy-button.tsx';
import { Icon } from '../../design/icon.tsx';
import { embedSnippet } from '../share/links.ts';

const tones: Readonly<Record<Difference['kind'], [word: string, tone: Tone]>> = {
  added: ['Added', 'good'],
  removed: ['Removed', 'bad'],
  changed: ['Changed', 'info'],
  moved: ['Moved', 'warn'],
};

type Stored = { readonly structure: object; readonly settings: Settings | null };

/**
 * In what the form that is edited differs from one that is stored, or the other way round; undefined when that cannot
 * be read. Settings that were not recorded differ in nothing.
 */
export function compareDocuments(
  stored: Stored,
  edited: Pick<Moment, 'root' | 'settings'>,
  from: 'stored' | 'edited' = 'stored',
): readonly Difference[] | undefined {
  const read = readStructure(stored.structure);
  if (!read.ok) return undefined;
  const other = { root: read.root, settings: stored.settings ?? edited.settings };
  const [before, after] = from === 'stored' ? [other, edited] : [edited, other];
  return [...compareForms(before.root, after.root), ...compareSettings(before.settings, after.settings)];
}

/** Differences in words; `none` is what is said when there are none. */
export function DifferenceList({
  differences,
  none,
}: {
  differences: readonly Difference[];
  none: string;
}): ReactElement {
  if (differences.length === 0) return <p className="soft">{none}</p>;
  return (
    <ul role="list" className="differences">
      {differences.map(({ kind, subject, details }, index) => (
        <li key={index}>
          <Chip tone={tones[kind][1]}>{tones[kind][0]}</Chip>
          <div>
            <span>{subject}</span>
            {details.map((detail) => (
              <p key={detail} className="soft small">
                {detail}
              </p>
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Where texts are translated. */
const translations = (message: string): SettingProblem => locate({ field: 'translations', message })!;

type DryRunProps = {
  readonly api: BuilderApi;
  readonly etag: string;
  readonly edited: Moment;
  readonly onShow: (place: NodeKey | SettingProblem) => void;
};

/** What the service says of a publication before it is made: which answers it touches, and whom the form keeps out. */
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

/** Webhooks whose filter asks for what the form does not have any more. It may be published all the same (docs/decisions/0025). */
function FilterWarnings({ root, form }: { root: EditNode; form: BuilderForm['form'] }): ReactElement | null {
  const webhooks = useQuery(webhooksQuery(form)).data?.data;
  const result = validateRoot(root);
  if (!webhooks || !result.ok) return null;
  return (
    <>
      {webhooks.map(({ id, url, filter }) => {
        const problems = filter ? checkFilter(result.form, filter) : [];
        if (problems.length === 0) return null;
        const said = new Set(problems.map(({ message }) => message));
        return (
          <Message key={id} tone="warn">
            <p>
              The webhook to{' '}
              <Link to="/forms/$form/webhooks/$webhook" params={{ form: form.id, webhook: id }}>
                {hostOf(url)}
              </Link>{' '}
              has a filter that does not fit this form. Publishing changes of which submissions it hears.
            </p>
            {[...said].map((message) => (
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
  /** Of the working copy as it was saved last. */
  readonly etag: string;
  readonly edited: Moment;
  readonly opened: BuilderForm;
  readonly problems: readonly LocatedProblem[];
  readonly settingProblems: readonly SettingProblem[];
  /** A text of the JSON view waits to be applied. */
  readonly isJsonOpen: boolean;
  readonly onClose: () => void;
  /** Saves what is not saved, and publishes; throws what was refused. */
  readonly onPublish: () => Promise<void>;
  readonly onShow: (place: NodeKey | SettingProblem) => void;
};

/** What publishing would change for visitors, and what stands in the way (docs/rules.md B5). */
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
      isOpen
      onClose={onClose}
      size="medium"
      description={isBlocked ? undefined : descriptionOf(isLive, wasPublished)}
      actions={
        <>
          <Button onPress={onClose}>Not yet</Button>
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
        <Message tone="warn">
          The text in the JSON view is not applied yet. It is no part of what is published.
        </Message>
      )}
      {opened.draft.base_version < opened.live.version && (
        <Message tone="warn">
          The live form was changed beside this working copy. Publishing replaces those changes; they stay in
          the history.
        </Message>
      )}
      <FilterWarnings root={edited.root} form={opened.form} />
      {wasPublished && (
        <section className="stack-tight">
          <h3>{isLive ? 'What changes' : 'Changes since it was last live'}</h3>
          <DifferenceList differences={differences} none="Nothing: the working copy is what is live." />
        </section>
      )}
      {!isBlocked && <DryRunList api={api} etag={etag} edited={edited} onShow={onShow} />}
    </Dialog>
  );
}

function descriptionOf(isLive: boolean, wasPublished: boolean): string {
  if (isLive)
    return 'The changes are live at once. Submissions that are there already keep the form that they answered.';
  return wasPublished
    ? 'Everybody who has the link can fill it in again.'
    : 'Everybody who has the link can fill it in. From then on its answers keep the names that programs know them by.';
}

type ShowProps = Pick<PublishProps, 'onShow'>;

/** What the service refused: each thing that it named leads to its control. */
function Refusal({ refusal, onShow }: ShowProps & { readonly refusal: Error }): ReactElement {
  const errors = refusal instanceof ApiProblem ? refusal.errors : [];
  return (
    <Message tone="bad" title={refusal.message}>
      {errors.map((error) => {
        const problem = locate(error);
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
      <h3>{sayCount(count, 'thing stands', 'things stand')} in the way</h3>
      <ul>
        {problems.map(({ key, message }, index) => {
          const node = findNode(root, key);
          return (
            <li key={index}>
              <button type="button" className="link-button" onClick={() => onShow(key)}>
                {node ? sayNode(node) : 'Form'}: {sayProblem(message, node)}
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

const SharedCode = lazy(async () => ({ default: (await import('../share/shared-code.tsx')).SharedCode }));

/** A form went live: its link, to be copied by the first key, and the other ways to its visitors. */
export function LaunchDialog({
  form: { id, name, public_url: url },
  onClose,
}: {
  form: BuilderForm['form'];
  onClose: () => void;
}): ReactElement {
  return (
    <Dialog
      title="Your form is live"
      isOpen
      onClose={onClose}
      size="medium"
      description="Everybody who has the link can fill it in."
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
        <Link
          className="button button-secondary button-medium"
          to="/forms/$form/invitations"
          params={{ form: id }}
        >
          <span className="button-content">
            <Icon name="mail" />
            Invite people
          </span>
        </Link>
        <Link
          className="button button-secondary button-medium"
          to="/forms/$form/submissions"
          params={{ form: id }}
        >
          <span className="button-content">
            <Icon name="table" />
            See answers arrive
          </span>
        </Link>
      </div>
      <Suspense fallback={<div className="launch-code" />}>
        <SharedCode text={url} name={name} />
      </Suspense>
      <CopyField label="HTML for any web page" text={embedSnippet(url, { parameters: [] })} isMultiline />
    </Dialog>
  );
}
