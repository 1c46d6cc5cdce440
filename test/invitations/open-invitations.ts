import type { PresentedInvitation } from '#invitations/present.ts';
import type { Tenant, TestService } from '../service.ts';

// Invitations for tests. Only tests import this file.

/** An invitation as JSON. */
export type Invited = {
  [Name in keyof PresentedInvitation]: PresentedInvitation[Name] extends Date | null
    ? string | null
    : PresentedInvitation[Name];
};

/** Returns the query string of a personal link, which follows the form's address. */
export const queryOf = ({ url }: Pick<Invited, 'url'>): string => new URL(url).search;

export function openInvitations(service: Pick<TestService, 'services'>, tenant: Tenant, formId: string) {
  const path = `/forms/${formId}/invitations`;
  const invite = async (people: readonly (string | object)[], more: object = {}) => {
    const invitations = people.map((person) => (typeof person === 'string' ? { email: person } : person));
    const { status, body } = await tenant.call('POST', path, { invitations, ...more });
    return { status, body: body as unknown as Answered };
  };
  return {
    path,
    /** Invites people by address, optionally with more fields, and returns the response. */
    invite,
    inviteOne: async (email: string, more: object = {}, message: object = {}): Promise<Invited> => {
      const { body } = await invite([{ email, ...more }], message);
      return body.data[0]!;
    },
    read: async (id: string): Promise<Invited> => {
      return (await tenant.call('GET', `${path}/${id}`)).body as unknown as Invited;
    },
    list: async (query = ''): Promise<Answered> => {
      return (await tenant.call('GET', `${path}${query}`)).body as unknown as Answered;
    },
    /** Moves the dates of an invitation this many days into the past. */
    age: async (id: string, days: number): Promise<void> => {
      await service.services.database.query(
        `update invitations set sent_at = sent_at - make_interval(days => $2), reminded_at = reminded_at - make_interval(days => $2),
                remind_at = remind_at - make_interval(days => $2), expires_at = expires_at - make_interval(days => $2)
          where id = $1`,
        [id, days],
      );
      await service.services.database.query(
        `update mails set settled_at = settled_at - make_interval(days => $2)
          where id = (select mail_id from invitations where id = $1)`,
        [id, days],
      );
    },
  };
}

type Answered = {
  data: Invited[];
  skipped: { index: number; email: string }[];
  pagination: { total_count: number };
  error: string;
  message: string;
  errors: { field: string; message: string }[];
};
