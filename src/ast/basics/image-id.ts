const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns whether the value has the format of an image ID (src/forms/images), without looking it up. */
export const isImageId = (value: unknown): value is string => typeof value === 'string' && uuid.test(value);

/** The end of the error message about an invalid image ID. */
export const imageIdProblem = 'must be the ID of an image in this workspace';
