import { type ReactElement, useState } from 'react';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Form } from '../../design/form.tsx';
import type { FormPlace } from '../queries.ts';
import { TagChips, TagField, tagsIn } from '../tags.tsx';
import { UnsavedGuard } from './edit/unsaved-guard.tsx';
import { useChange } from './edit/use-change.ts';

type Props = { form: FormPlace; submission: SubmissionDetail; mayEdit: boolean };

/** The tags of one submission: each is taken away by its cross, others are typed. */
export function TagsSection({ form, submission, mayEdit }: Props): ReactElement | null {
  const { tags } = submission;
  const [text, setText] = useState('');
  const change = useChange(form, submission, {
    takeBack:
      ({ on, made }) =>
      (now, since) => {
        // What was set or taken away again since is not this change's any more.
        const isLeft = (tag: string): boolean =>
          on.tags.includes(tag) !== made.tags.includes(tag) &&
          since.every(({ tags }) => tags.includes(tag) === made.tags.includes(tag));
        const gone = on.tags.filter((tag) => !made.tags.includes(tag) && isLeft(tag));
        return { tags: [...now.tags.filter((tag) => !isLeft(tag)), ...gone] };
      },
  });
  if (tags.length === 0 && !mayEdit) return null;
  return (
    <section className="panel-section" aria-labelledby="tags-title">
      <h3 id="tags-title">Tags</h3>
      <TagChips
        tags={tags}
        {...(mayEdit && {
          onRemove: (tag: string) =>
            change.mutate((now) => ({ tags: now.tags.filter((other) => other !== tag) })),
        })}
      />
      {mayEdit && (
        <Form
          className="tag-add"
          validationBehavior="native"
          isPending={change.isPending}
          onSubmit={() => {
            if (tagsIn(text).length > 0)
              change.mutate((now) => ({ tags: [...now.tags, ...tagsIn(text)] }), {
                onSuccess: () => setText((now) => (now === text ? '' : now)),
              });
          }}
        >
          <TagField form={form} label="Add a tag" value={text} onChange={setText} />
          <UnsavedGuard
            isDirty={text.trim() !== '' && !change.isPending}
            what="The tag that you wrote is not added."
          />
          <Button type="submit" isPending={change.isPending}>
            Add
          </Button>
        </Form>
      )}
      {change.error && <p className="field-error">{change.error.message}</p>}
    </section>
  );
}
