import './filter.css';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { ConditionEditor, SentenceText } from '../../conditions/condition-editor.tsx';
import {
  createNodeFinder,
  newCondition,
  parseConditionTree,
  type TestedNode,
  toStoredCondition,
} from '../../conditions/condition-tree.ts';
import { describeOnlyWhen } from '../../conditions/describe-condition.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { FieldHelp } from '../../design/field.tsx';
import { Message, SaveErrorMessage } from '../../design/message.tsx';
import { questionsQuery, type WebhookOwner } from '../webhooks-query.ts';
import type { FilterDraft } from './filter-draft.ts';

/** A filter names questions of one form. */
type FilteredForm = Pick<WebhookOwner, 'workspace_id'> & { id: string };

type FieldProps = {
  form: FilteredForm;
  filter: FilterDraft;
  onChange: (filter: FilterDraft) => void;
  error: string | undefined;
};

/** Lets the person choose which submissions a webhook receives: all, or those that meet a condition. */
export function FilterField({ form, filter, onChange, error }: FieldProps): ReactElement {
  const { data: questions, error: unread } = useQuery(questionsQuery(form));
  return (
    <fieldset className="filter-field">
      <legend className="field-label">Filter</legend>
      <FieldHelp description="Without a filter, every submission is sent. Updates are matched against the new answers, deletions against the last ones." />
      {unread && !questions && <Message tone="bad">{unread.message}</Message>}
      {filter === null ? (
        // Rendered before the questions have loaded, so that nothing below it moves.
        <Button
          size="small"
          icon="add"
          isDisabled={!questions}
          onPress={() => onChange(newCondition(questions?.[0]))}
        >
          Add condition
        </Button>
      ) : (
        questions && <Filter questions={questions} filter={filter} onChange={onChange} />
      )}
      {error && <SaveErrorMessage>{error}</SaveErrorMessage>}
    </fieldset>
  );
}

type FilterProps = Pick<FieldProps, 'onChange'> & { filter: object; questions: readonly TestedNode[] };

function Filter({ questions, filter, onChange }: FilterProps): ReactElement {
  const group = parseConditionTree(filter);
  return (
    <>
      <div className="spread">
        {group && (
          <p className="logic-sentence">
            <SentenceText sentence={describeOnlyWhen(group, createNodeFinder(questions))} />
          </p>
        )}
        <IconButton icon="remove" label="Remove filter" size="small" onPress={() => onChange(null)} />
      </div>
      {group && (
        <ConditionEditor
          group={group}
          nameable={questions}
          suggested={questions[0]}
          onChange={(next) => onChange(next ? toStoredCondition(next) : null)}
        />
      )}
    </>
  );
}

type SentenceProps = { form: FilteredForm; filter: NonNullable<Webhook['filter']> };

/** Shows the filter of a webhook: `Only when Country is Germany`. */
export function FilterSentence({ form, filter }: SentenceProps): ReactElement | null {
  const questions = useQuery(questionsQuery(form)).data;
  const group = parseConditionTree(filter);
  // Until the questions are loaded, all of them would look as if they were missing.
  if (!questions || !group) return null;
  return (
    <p className="webhook-filter small">
      <SentenceText sentence={describeOnlyWhen(group, createNodeFinder(questions))} />
    </p>
  );
}
