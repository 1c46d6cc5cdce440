import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../../api/operations.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { Form } from '../../design/form.tsx';
import { UnsavedGuard } from './edit/unsaved-guard.tsx';
import { toastProblem } from '../../design/toast.tsx';
import { Ago } from '../../design/time.tsx';
import { type FormPlace, notesQuery, refreshSubmissions } from '../queries.ts';

type Props = { form: FormPlace; id: string; mayEdit: boolean };

/** What the people of the workspace have written down about a submission, newest first. */
export function NotesSection({ form, id, mayEdit }: Props): ReactElement | null {
  const { data: notes = [], error } = useQuery(notesQuery(form, id));
  const [text, setText] = useState('');
  const add = useMutation({
    mutationFn: (sent: string) =>
      call(form.workspace_id, 'addNote', { params: { id }, body: { text: sent } }),
    async onSuccess(_, sent) {
      // Who goes on writing meanwhile keeps it.
      setText((now) => (now === sent ? '' : now));
      await refreshSubmissions(form);
    },
  });
  const remove = useMutation({
    mutationFn: (note: string) => call(form.workspace_id, 'deleteNote', { params: { id, note } }),
    onSuccess: () => refreshSubmissions(form),
    onError: toastProblem,
  });
  if (notes.length === 0 && !mayEdit && !error) return null;
  return (
    <section className="panel-section" aria-labelledby="notes-title">
      <h3 id="notes-title">Notes</h3>
      {error && <p className="soft small">The notes could not be loaded: {error.message}</p>}
      {mayEdit && (
        <Form
          className="stack"
          validationBehavior="native"
          isPending={add.isPending}
          onSubmit={() => text.trim() !== '' && add.mutate(text)}
        >
          <TextArea
            label="Write a note"
            description="Your workspace sees it, and nobody else."
            value={text}
            onChange={setText}
            rows={2}
            error={add.error?.message}
          />
          <UnsavedGuard isDirty={text.trim() !== ''} what="The note that you wrote is not added." />
          <div className="row">
            <Button type="submit" size="small" isPending={add.isPending}>
              Add note
            </Button>
          </div>
        </Form>
      )}
      {notes.map((note) => (
        <article key={note.id} className="note">
          <div className="spread">
            <span className="soft small">
              {note.author ?? 'Somebody who is gone'}, <Ago at={note.created_at} />
            </span>
            {mayEdit && (
              <IconButton
                icon="remove"
                size="small"
                label="Delete this note"
                isDisabled={remove.isPending}
                onPress={() => remove.mutate(note.id)}
              />
            )}
          </div>
          <p className="note-text">{note.text}</p>
        </article>
      ))}
    </section>
  );
}
