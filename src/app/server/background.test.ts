import { test } from 'node:test';
import { callConsole, signIn } from '#test/console.ts';
import { openMailServer } from '#test/mail-server.ts';
import { openService, until } from '#test/service.ts';

test('a service that loses its mail server notices it when sending, without a request, and tells the operator when it is back', async () => {
  const server = await openMailServer();
  const operator = 'operator@example.test';
  const service = await openService({
    SMTP_URL: server.url,
    MAIL_FROM: 'forms@formloom.test',
    OPERATOR_EMAIL: operator,
    MAIL_RETRY_DELAYS: '0.1,0.2,0.5,1,2,5,10,10,10,10',
  });
  const { email } = await signIn(service);
  await server.goAway();
  await callConsole(service.url, '', 'POST', '/password-resets', { email });
  const noted = async (): Promise<boolean> => {
    const found = await service.services.database.query("select from incidents where key = 'mail server'");
    return found.rowCount === 1;
  };
  await until('it to look after itself, twice a minute', noted, 60);
  await server.comeBack();
  await server.waitFor(operator, 1);
});
