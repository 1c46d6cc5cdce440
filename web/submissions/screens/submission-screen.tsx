import '../panel/panel.css';
import '../panel/print.css';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { useForm } from '../../shell/current-form.ts';
import { SubmissionPanel } from '../panel/submission-panel.tsx';
import { searchOf, useViewState } from '../view-state.ts';

/** One submission on a page of its own. The URL keeps the view, which decides the previous and next one. */
export function SubmissionScreen(): ReactElement {
  const form = useForm();
  const { submission } = useParams({ from: '/inside/forms/$form/submissions/$submission' });
  const [view] = useViewState();
  const navigate = useNavigate();
  const search = (before: Record<string, unknown>) => searchOf(before, {});
  const params = { form: form.id };
  return (
    <article className="panel panel-page" aria-label="Submission">
      <SubmissionPanel
        isPage
        form={form}
        id={submission}
        view={view}
        onGo={(next) =>
          void navigate({
            to: '/forms/$form/submissions/$submission',
            params: { ...params, submission: next },
            search,
          })
        }
        onClose={() => void navigate({ to: '/forms/$form/submissions', params, search })}
      />
    </article>
  );
}
