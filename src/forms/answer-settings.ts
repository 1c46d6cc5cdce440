import { isRecord, isSameJson, own } from '#ast/json.ts';
import type { SettingName, Settings } from '#ast/settings.ts';
import { ApiError } from '#kit/errors.ts';
import type { Scope } from '#kit/operation.ts';
import type { Permission } from '#rules/permissions.ts';

/** The settings that send answers to somebody who is not the visitor. */
const sendsAnswers = ['notification_email', 'notifications'] as const satisfies readonly SettingName[];

/**
 * Setting where answers go is reading them: it takes the permission for that. Who lacks it may leave such a setting as
 * it is, and clear it.
 * @param given as it was sent; what else is wrong with it is found elsewhere.
 * @param readCurrent the settings that the form has.
 * @throws ApiError forbidden, naming the setting and the permission.
 */
export async function requireAnswerReader(
  caller: Pick<Scope, 'may'>,
  given: unknown,
  readCurrent: () => Promise<Settings>,
): Promise<void> {
  const needed: Permission = 'submissions:read';
  if (caller.may(needed) || !isRecord(given)) return;
  for (const name of sendsAnswers) {
    const value = own(given, name) ?? null;
    if (value === null || isSameJson(value, (await readCurrent())[name])) continue;
    throw new ApiError(
      'forbidden',
      `The caller lacks the permission ${needed}, which setting "${name}" takes: answers are mailed there.`,
    );
  }
}
