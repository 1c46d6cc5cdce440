/** A package of a form with one question, for the document and for tests. */
export const examplePackage = Buffer.from(
  [
    'H4sIAAAAAAACA+2UP2vcQBDFVedTiKlX9qxOf8w2KdKkSZcmMUbMSaM7xSutsjvK5TD33YMENueYkCY+YtBvi9mZ4g0MvNc63199',
    'C26IXg9ExCLLloqIv1dMC4x0vkEsy01R5BFiWeRZFGN0AaYg5CO8yK7/kAdone+tc301f8BoBV0DBlCTbhvOkqKtOSlZU0JlTkna',
    '3rQ3db2ps60GBQP1DAY+uEGoFlCwp1CNFMLB+QZMSzawgsZTK2CGyVoFP9iHzg1h2fXYVJZbqdwkYFBB19OOA5jbOwUH3u6du1+6',
    '07to5Z/yeP9rRNSvFAR/83+u9XP/a60zXP1/Gf/Xnkm4qUjAQIppmaBONvqzTg2iQbxCxK+gIIifapk8g3kAOY6z7ZfIUEAiPszj',
    'F2nQcKh9N0rnBjDw0R3ino7xgeM92/E9nBTU+842ngcwt0+yQXg8l5VO7Dz/4iYf9xwC7RgUWDougQFBqL7/k5jwTyHPdC64JNy5',
    '0JYtGPj0NPH8feo8N2DET/xc+e40PwWBRbphNwue1mBaWVl5c/wC5V+MeAAMAAA=',
  ].join(''),
  'base64',
);
