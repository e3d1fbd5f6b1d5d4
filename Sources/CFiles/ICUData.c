// Foundation, which GRDB and Yams import, links ICU and 34 MB of its data. The program does nothing that needs them, so
// it has ICU's empty data in their place (icu4c/source/stubdata). A program that links Foundation's shared libraries
// goes on using theirs, as the tests do. A toolchain with another version of ICU only makes a bigger program.
#ifdef __linux__
#include <stdint.h>

struct empty_icu_data {
    uint16_t header_size;
    uint8_t magic[2];
    uint16_t info_size, reserved;
    uint8_t is_big_endian, charset_family, char_size, padding;
    uint8_t format[4], format_version[4], data_version[4];
    uint8_t copyright[8];
    uint32_t entry_count;
    uint32_t unused[3];
};

#define EMPTY_ICU_DATA(version)                                                                    \
    extern const struct empty_icu_data icudt##version##_dat;                                       \
    __attribute__((visibility("hidden"), aligned(16))) const struct empty_icu_data                 \
        icudt##version##_dat = {                                                                   \
            .header_size = 32,                                                                     \
            .magic = {0xda, 0x27},                                                                 \
            .info_size = 20,                                                                       \
            .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,                               \
            .char_size = 2,                                                                        \
            .format = "ToCP",                                                                      \
            .format_version = {1},                                                                 \
    }

EMPTY_ICU_DATA(74);
EMPTY_ICU_DATA(76);
EMPTY_ICU_DATA(78);
#endif
