import './filter.css';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { readCondition } from '../../conditions/condition-tree.ts';
import { sayOnlyWhen } from '../../conditions/say-condition.ts';
import { SentenceText } from '../../conditions/sentence-text.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { findIn } from './filter-draft.ts';
import { questionsQuery } from './questions-query.ts';

type Props = { form: LocatedForm; filter: NonNullable<Webhook['filter']> };

/** Of which submissions a webhook hears: `Only when Country is Germany`. */
export function FilterSentence({ form, filter }: Props): ReactElement | null {
  const questions = useQuery(questionsQuery(form)).data;
  const group = readCondition(filter);
  // Without the questions every one of them would seem to be missing.
  if (!questions || !group) return null;
  return (
    <p className="webhook-filter small">
      <SentenceText sentence={sayOnlyWhen(group, findIn(questions))} />
    </p>
  );
}
