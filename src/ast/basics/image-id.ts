const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether the value can be the id of an image of a workspace (src/forms/images); whether there is one, nobody asks here. */
export const isImageId = (value: unknown): value is string => typeof value === 'string' && uuid.test(value);

/** The end of the sentence about a value that is none. */
export const imageIdProblem = 'must be the id of an image of this workspace';
