import { columns, statement } from '#kit/statement.ts';

const person = columns('id:text email is_confirmed is_linked:boolean temporary_until:timestamp?');

/** Whom a provider means: whoever it signed in before, or else whoever has the address. */
export const findSignedIn = statement(
  'identity_provider.find',
  'identity email',
  person,
  `select u.id, u.email, u.email_verified as is_confirmed, a.id is not null as is_linked, u.temporary_until
     from users u left join accounts a on a.user_id = u.id and a.provider_id = 'oidc' and a.account_id = $identity
    where a.id is not null or u.email = $email
    order by a.id is not null desc
    limit 1`,
);

/** A person without a password; nothing when the address is taken. */
export const insertPerson = statement(
  'identity_provider.insert_person',
  'id:text name email now',
  'id:text',
  `insert into users (id, name, email, email_verified, created_at, updated_at)
   values ($id, $name, $email, true, $now, $now)
   on conflict (email) do nothing
   returning id`,
);

/** From now on the provider signs this person in, whatever address it tells. */
export const insertIdentity = statement(
  'identity_provider.insert_identity',
  'id:text user_id identity now',
  '',
  `insert into accounts (id, user_id, account_id, provider_id, created_at, updated_at)
   values ($id, $user_id, $identity, 'oidc', $now, $now)
   on conflict (account_id) where provider_id = 'oidc' do nothing`,
);
