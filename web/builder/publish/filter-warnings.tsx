import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { checkFilter } from '#ast/logic/check-filter.ts';
import { Message } from '../../design/message.tsx';
import { hostOf } from '#rules/url-problem.ts';
import { webhooksQuery } from '../../webhooks/webhooks-query.ts';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/located-problems.ts';
import type { BuilderForm } from '../saving/builder-api.ts';

/** Webhooks whose filter asks for what the form does not have any more. It may be published all the same (docs/decisions/0025). */
export function FilterWarnings({
  root,
  form,
}: {
  root: EditNode;
  form: BuilderForm['form'];
}): ReactElement | null {
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
