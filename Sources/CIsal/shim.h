// ISA-L's stream structures hold arrays too large for Swift to import, so the calls that use
// them are here as inline functions over plain buffers.
//
// Where ISA-L is not installed, zlib inflates and sums, and there is no deflater.
#ifndef CISAL_SHIM_H
#define CISAL_SHIM_H

#if __has_include(<isa-l/igzip_lib.h>)

#include <isa-l.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

// The compressor's working memory: about 0.5 MiB, made once per thread and used again.
typedef struct {
    struct isal_zstream stream;
    uint32_t level;
    uint32_t level_buffer_size;
    uint8_t level_buffer[ISAL_DEF_LVL3_DEFAULT];
} cisal_deflater;

// The version of ISA-L, such as 0x21e00 for 2.30.0; 0 where it is not installed.
static inline uint32_t cisal_version(void) { return ISAL_VERSION; }

// Continues a CRC-32 as in zip.
static inline uint32_t cisal_crc32(uint32_t crc, const uint8_t *in, size_t length) {
    return crc32_gzip_refl(crc, in, length);
}

static inline uint32_t cisal_level_buffer_size(uint32_t level) {
    switch (level) {
    case 1: return ISAL_DEF_LVL1_DEFAULT;
    case 2: return ISAL_DEF_LVL2_DEFAULT;
    case 3: return ISAL_DEF_LVL3_DEFAULT;
    default: return 0;
    }
}

// Returns a deflater of a level from 1 to 3; NULL where there is none.
static inline void *cisal_deflater_create(uint32_t level) {
    // ISA-L reads some of it before it writes there: the earlier content of the memory would change what comes out.
    cisal_deflater *deflater = calloc(1, sizeof *deflater);
    if (deflater != NULL) {
        deflater->level = level;
        deflater->level_buffer_size = cisal_level_buffer_size(level);
    }
    return deflater;
}

static inline void cisal_deflater_destroy(void *deflater) { free(deflater); }

// Deflates a whole segment. One that is not the last ends on a full flush, so it stops at a
// byte boundary and the next one refers to nothing in it. Returns the compressed length, or a
// negative ISA-L error (STATELESS_OVERFLOW where the output does not fit).
static inline int64_t cisal_deflate(
    void *opaque, const uint8_t *in, uint32_t in_length, uint8_t *out, uint32_t out_capacity,
    int is_last) {
    cisal_deflater *deflater = opaque;
    struct isal_zstream *stream = &deflater->stream;
    isal_deflate_stateless_init(stream);
    stream->level = deflater->level;
    stream->level_buf = deflater->level_buffer;
    stream->level_buf_size = deflater->level_buffer_size;
    stream->flush = is_last ? NO_FLUSH : FULL_FLUSH;
    stream->end_of_stream = is_last ? 1 : 0;
    stream->next_in = (uint8_t *)in;
    stream->avail_in = in_length;
    stream->next_out = out;
    stream->avail_out = out_capacity;
    int status = isal_deflate_stateless(stream);
    if (status != COMP_OK) return status;
    if (stream->avail_in != 0) return STATELESS_OVERFLOW;
    return stream->total_out;
}

static inline void *cisal_inflater_create(void) { return malloc(sizeof(struct inflate_state)); }

static inline void cisal_inflater_destroy(void *inflater) { free(inflater); }

static inline void cisal_inflater_reset(void *opaque) {
    struct inflate_state *state = opaque;
    isal_inflate_init(state);
    state->crc_flag = ISAL_DEFLATE;
}

// One step of inflating a raw deflate stream: takes input from `*in`, gives output to `*out`,
// and moves both on. Returns 0 or a negative ISA-L error; `*finished` is 1 after the last block.
static inline int cisal_inflate(
    void *opaque, const uint8_t **in, uint32_t *in_length, uint8_t **out, uint32_t *out_capacity,
    int *finished) {
    struct inflate_state *state = opaque;
    state->next_in = (uint8_t *)*in;
    state->avail_in = *in_length;
    state->next_out = *out;
    state->avail_out = *out_capacity;
    int status = isal_inflate(state);
    *finished = state->block_state == ISAL_BLOCK_FINISH;
    // It reads up to eight bytes ahead: what lies behind the end was not taken.
    uint32_t ahead = *finished ? (uint32_t)state->read_in_length / 8 : 0;
    uint32_t taken = *in_length - state->avail_in;
    if (ahead > taken) ahead = taken;
    *in = state->next_in - ahead;
    *in_length = state->avail_in + ahead;
    *out = state->next_out;
    *out_capacity = state->avail_out;
    return status;
}

#else

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

static inline uint32_t cisal_version(void) { return 0; }

static inline uint32_t cisal_crc32(uint32_t crc, const uint8_t *in, size_t length) {
    // zlib starts again at a null pointer.
    return in == NULL ? crc : (uint32_t)crc32_z(crc, in, length);
}

static inline void *cisal_deflater_create(uint32_t level) {
    (void)level;
    return NULL;
}

static inline void cisal_deflater_destroy(void *deflater) { (void)deflater; }

// Without a deflater nobody calls it.
static inline int64_t cisal_deflate(
    void *deflater, const uint8_t *in, uint32_t in_length, uint8_t *out, uint32_t out_capacity,
    int is_last) {
    (void)deflater, (void)in, (void)in_length, (void)out, (void)out_capacity, (void)is_last;
    abort();
}

static inline void *cisal_inflater_create(void) {
    z_stream *stream = calloc(1, sizeof *stream);
    if (stream != NULL && inflateInit2(stream, -MAX_WBITS) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

static inline void cisal_inflater_destroy(void *inflater) {
    inflateEnd(inflater);
    free(inflater);
}

static inline void cisal_inflater_reset(void *inflater) { inflateReset(inflater); }

static inline int cisal_inflate(
    void *inflater, const uint8_t **in, uint32_t *in_length, uint8_t **out, uint32_t *out_capacity,
    int *finished) {
    z_stream *stream = inflater;
    // zlib refuses a null pointer, even for no bytes.
    Bytef nothing = 0;
    stream->next_in = *in == NULL ? &nothing : (Bytef *)*in;
    stream->avail_in = *in_length;
    stream->next_out = *out == NULL ? &nothing : *out;
    stream->avail_out = *out_capacity;
    int status = inflate(stream, Z_NO_FLUSH);
    *finished = status == Z_STREAM_END;
    if (*in != NULL) *in += *in_length - stream->avail_in;
    if (*out != NULL) *out += *out_capacity - stream->avail_out;
    *in_length = stream->avail_in;
    *out_capacity = stream->avail_out;
    // Without room or input it can do nothing, which is no fault.
    return *finished || status == Z_BUF_ERROR ? 0 : status;
}

#endif

#endif
