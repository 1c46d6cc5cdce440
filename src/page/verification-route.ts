import { Type } from 'typebox';
import { answerLimits } from '#ast/basics/limits.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { nameSchema } from '#kit/pagination.ts';
import { compileBody, strictObject } from '#kit/validation.ts';
import { mailNotConfigured } from '#mail/sending/send-mail.ts';
import { listVerifiedElements } from '#submissions/verified.ts';
import { checkCode, endOfStamp, readAddressToVerify, sendCode } from './post/email-codes.ts';
import { isJsonBody, verificationPath } from './post/handle-json-post.ts';
import type { PostServices } from './post/post-context.ts';
import { checkPostSource, sendPreflight } from './visit/screening.ts';
import { type FormRequest, type FormRoute, type OpenVisitServices, openVisit } from './visit/visit.ts';

export const VerificationRequest = nameSchema(
  'VerificationRequest',
  strictObject({
    element: Type.String({
      maxLength: answerLimits.elementId,
      description: 'The id of the email element.',
    }),
    email: Type.String({ maxLength: 254 }),
    id: Type.Optional(Type.String({ maxLength: 100, description: 'The id of the code.' })),
    code: Type.Optional(Type.String({ maxLength: 20, description: 'The code that the person received.' })),
  }),
);
const readBody = compileBody(VerificationRequest);

const invalid = (
  field: string,
  message: string,
  code: 'invalid_choice' | 'invalid_format' | 'not_verified',
) => new ApiError('validation_error', message, { errors: [{ field, message, code }] });

/**
 * Adds `POST /f/<id>/verifications` for programs. With `element` and `email`, it emails a code and returns its
 * id (201). With `id` and `code` as well, it returns the token of the verified address (200), which the
 * submission sends in `verifications`.
 */
export function verificationRoute(server: Server, context: PostServices & OpenVisitServices): void {
  const path = verificationPath;
  server.post<FormRoute>(path, { onRequest: checkPostSource(context) }, async (request, reply) => {
    const visit = await openVisit(context, request);
    const { live } = visit;
    if (!isJsonBody(request))
      throw new ApiError('unsupported_media_type', 'Send the body as Content-Type: application/json.');
    const { element, email, id, code } = readBody(request.body);
    if (!listVerifiedElements(live.form).some(({ attrs }) => attrs.id === element))
      throw invalid('element', 'The form has no email element with this ID and `verify`.', 'invalid_choice');
    const address = readAddressToVerify(email);
    if (address === undefined) throw invalid('email', 'Enter a valid email address.', 'invalid_format');
    const target = { live, element, address };
    if (code !== undefined) {
      const token = await checkCode(context, request, target, { id, code });
      if (token === undefined)
        throw invalid('code', 'This code is wrong or has expired. Request a new one.', 'not_verified');
      return reply.send({ token, expires_at: endOfStamp('verified') });
    }
    if (!context.config.smtp) throw new ApiError('conflict', mailNotConfigured);
    const sent = await sendCode(context, visit, request, target);
    if (sent === undefined)
      throw new ApiError('rate_limit_exceeded', 'This address has received too many codes today.');
    return reply.code(201).send({ id: sent, expires_at: endOfStamp('sent') });
  });

  server.options(path, async (request: FormRequest, reply) => {
    const { live } = await openVisit(context, request);
    return sendPreflight(live, request, reply, context.config.publicUrl);
  });
  refuseOtherMethods(server, path, ['POST', 'OPTIONS']);
}
