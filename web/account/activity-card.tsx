import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { ReplyOf } from '#app/operations.ts';
import { callOwn } from '../api/operations.ts';
import { Chip } from '../design/chip.tsx';
import { Card } from '../design/page.tsx';
import { Pager } from '../design/pager.tsx';
import { ErrorState, Loading } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { nameBrowser } from './browser-name.ts';

type Line = ReplyOf<'listActivity'>['data'][number];

const perPage = 10;

const activityQuery = (page: number) =>
  queryOptions({
    queryKey: ['own-activity', page],
    queryFn: () => callOwn('listActivity', { query: { page, per_page: perPage } }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

const words = {
  signIn: 'Signed in by password',
  signInByPasskey: 'Signed in by passkey',
  signInByProvider: 'Signed in by the provider',
  takeSecondStep: 'Second step taken',
  signOut: 'Signed out',
  endSession: 'A session was signed out',
  endOtherSessions: 'Every other session was signed out',
  changePassword: 'Password changed',
  finishPasswordReset: 'Password chosen by the link of a mail',
  renamePerson: 'Name changed',
  renamePasskey: 'Passkey renamed',
  createUser: 'Account made',
  replacePassword: 'Temporary password given',
  addAuthenticatorApp: 'Authenticator app added',
  removeAuthenticatorApp: 'Authenticator app removed',
  addPasskey: 'Passkey added',
  removePasskey: 'Passkey removed',
  renewRecoveryCodes: 'New recovery codes made',
  useRecoveryCode: 'A recovery code was used',
  forgetSecondFactors: 'Second factors taken away',
  deleteAccount: 'Deletion of the account begun',
  bringBackAccount: 'Account brought back',
} as const satisfies Record<Line['operation'], string>;

const refusedWords: Partial<Record<Line['operation'], string>> = {
  signIn: 'Somebody tried to sign in with a wrong password',
  takeSecondStep: 'Somebody who knows your password tried a wrong code',
};

/** What lately concerned the person's account: when, from where, and whether it was refused. */
export function ActivityCard(): ReactElement {
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useQuery(activityQuery(page));
  return (
    <Card
      title="Recent activity"
      lead="What concerned your account in the last year. If something here was not you, change your password and sign out everywhere else."
    >
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Loading lines={3} />
      ) : data.data.length === 0 ? (
        <p className="soft">Nothing yet. Your next sign-in is the first line.</p>
      ) : (
        <>
          {data.data.map((line) => (
            <div key={line.id} className="spread">
              <div>
                <strong>{sayDeed(line)}</strong>
                <div className="soft small">
                  <Ago at={line.at} /> · {sayWhere(line)}
                </div>
              </div>
              {line.status >= 400 && <Chip tone="bad">Refused</Chip>}
              {line.is_this && <Chip tone="good">This session</Chip>}
            </div>
          ))}
          {data.pagination.total_count > perPage && (
            <Pager
              label="Pages of your activity"
              page={page}
              pagination={data.pagination}
              onChange={setPage}
            />
          )}
        </>
      )}
    </Card>
  );
}

const sayDeed = ({ operation, status }: Line): string =>
  (status >= 400 ? refusedWords[operation] : undefined) ?? words[operation];

function sayWhere({ by_operator, browser, address }: Line): string {
  if (by_operator) return 'whoever runs this service, at the command line';
  return address === null ? nameBrowser(browser) : `${nameBrowser(browser)}, ${address}`;
}
