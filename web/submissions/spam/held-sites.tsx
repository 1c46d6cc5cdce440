import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { SpamPage } from '#submissions/held/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import type { FormPlace } from '../queries.ts';
import { saySubmissions } from '../say-submissions.ts';
import { allowSite } from './spam-query.ts';

type Props = { form: FormPlace; sites: SpamPage['sites']; mayDecide: boolean };

/** Sites whose pages send this form and are not named in its settings: each is let in with one press. */
export function HeldSites({ form, sites, mayDecide }: Props): ReactElement {
  const allow = useMutation({
    mutationFn: (origin: string) => allowSite(form, origin),
    onSuccess: (count) =>
      toastDone(`The site is allowed. ${saySubmissions(count)} moved to the submissions.`),
    onError: toastProblem,
  });
  return (
    <>
      {sites.map(({ origin, count }) => (
        <Message
          key={origin}
          tone="warn"
          title={`${saySubmissions(count)} came from a page of ${origin}`}
          action={
            mayDecide && (
              <Button icon="check" isPending={allow.isPending} onPress={() => allow.mutate(origin)}>
                Allow {origin} and release
              </Button>
            )
          }
        >
          Is it yours? Allowing names it in the settings, under Embedding: sites that are named there, and no
          others, may show this form and send it.
        </Message>
      ))}
    </>
  );
}
