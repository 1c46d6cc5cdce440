import { type ReactElement, useMemo, useState } from 'react';
import { subjectCandidates } from '#ast/searchable.ts';
import { validateStructure } from '#ast/validate.ts';
import { ApiProblem } from '../../api/client.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { compareForms, sayNode } from '../model/compare.ts';
import { type EditNode, findNode, type NodeKey, readStructure, toStructure } from '../model/edit-node.ts';
import type { LocatedProblem } from '../model/located-problems.ts';
import type { BuilderForm } from '../saving/builder-api.ts';
import { DifferenceList } from './difference-list.tsx';
import { FilterWarnings } from './filter-warnings.tsx';

type PublishProps = {
  readonly root: EditNode;
  readonly opened: BuilderForm;
  readonly problems: readonly LocatedProblem[];
  readonly onClose: () => void;
  /** Saves what is not saved, and publishes; throws what was refused. */
  readonly onPublish: () => Promise<void>;
  readonly onShow: (key: NodeKey) => void;
};

/** What publishing would change for visitors, and what stands in the way (`features` B5). */
export function PublishDialog({
  root,
  opened,
  problems,
  onClose,
  onPublish,
  onShow,
}: PublishProps): ReactElement {
  const [isPending, setPending] = useState(false);
  const [refusal, setRefusal] = useState<string | undefined>();
  const wasPublished = opened.form.published_at !== null;
  const isLive = opened.form.status === 'published';
  const differences = useMemo(() => {
    const live = readStructure(opened.live.structure);
    return live.ok ? compareForms(live.root, root) : [];
  }, [opened.live.structure, root]);
  const warnings = useWarnings(root, opened);
  const publish = (): void => {
    setPending(true);
    setRefusal(undefined);
    onPublish().catch((error: unknown) => {
      setPending(false);
      setRefusal(error instanceof ApiProblem ? error.message : 'The form could not be published.');
    });
  };
  return (
    <Dialog
      title={isLive ? 'Publish changes' : 'Publish this form'}
      isOpen
      onClose={onClose}
      size="medium"
      description={problems.length === 0 ? descriptionOf(isLive, wasPublished) : undefined}
      actions={
        <>
          <Button onPress={onClose}>Not yet</Button>
          <Button
            variant="primary"
            icon="send"
            onPress={publish}
            isPending={isPending}
            isDisabled={problems.length > 0 || (isLive && differences.length === 0)}
          >
            Publish
          </Button>
        </>
      }
    >
      {refusal && <Message tone="bad">{refusal}</Message>}
      {problems.length > 0 && <Problems root={root} problems={problems} onShow={onShow} />}
      {warnings.map((warning) => (
        <Message key={warning} tone="warn">
          {warning}
        </Message>
      ))}
      <FilterWarnings root={root} form={opened.form} />
      {wasPublished && (
        <section className="stack-tight">
          <h3>{isLive ? 'What changes for visitors' : 'Changes since it was last live'}</h3>
          <DifferenceList differences={differences} none="Nothing: the working copy is what is live." />
        </section>
      )}
    </Dialog>
  );
}

function descriptionOf(isLive: boolean, wasPublished: boolean): string {
  if (isLive)
    return 'The changes are live at once. Submissions that are there already keep the form that they answered.';
  return wasPublished
    ? 'Everybody who has the link can fill it in again.'
    : 'Everybody who has the link can fill it in. From then on the ids of its elements are fixed.';
}

function Problems({
  root,
  problems,
  onShow,
}: Pick<PublishProps, 'root' | 'problems' | 'onShow'>): ReactElement {
  return (
    <div className="publish-problems" role="alert">
      <h3>
        {problems.length === 1 ? 'One thing stands in the way' : `${problems.length} things stand in the way`}
      </h3>
      <ul>
        {problems.map(({ key, message }, index) => {
          const node = findNode(root, key);
          return (
            <li key={index}>
              <button type="button" className="link-button" onClick={() => onShow(key)}>
                {node ? sayNode(node) : 'Form'}: {message}
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** What may be published, and yet may surprise. */
function useWarnings(root: EditNode, { form, live, draft }: BuilderForm): readonly string[] {
  return useMemo(() => {
    const warnings: string[] = [];
    const result = validateStructure(toStructure(root));
    const subject = (form.settings as { subject_element?: string }).subject_element;
    if (result.ok && subject && !subjectCandidates(result.form).some(({ attrs }) => attrs.id === subject)) {
      warnings.push(
        `The settings name “${subject}” as the subject for search, and it is not in this form any more. The first text element takes its place.`,
      );
    }
    if (draft.base_version < live.version) {
      warnings.push(
        'The live form was changed beside this working copy. Publishing replaces those changes; they stay in the history.',
      );
    }
    return warnings;
  }, [root, form.settings, live.version, draft.base_version]);
}
