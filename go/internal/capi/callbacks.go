package capi

/*
#include "library.h"
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
)

func callbacksOf(context C.uintptr_t) *Callbacks {
	return cgo.Handle(context).Value().(*Callbacks)
}

//export gavelGoAuthorize
func gavelGoAuthorize(context C.uintptr_t, authorizer C.uint64_t, attributes *C.uint8_t, length C.size_t, reply *C.GavelReply) {
	callbacks := callbacksOf(context)
	defer callbacks.caught()
	asked := bytesOf(attributes, length)
	verdict, reason, err := callbacks.Authorize(uint64(authorizer), asked)
	message := ""
	if err != nil {
		message = err.Error()
	}
	if verdict < NoOpinion || verdict > Deny {
		// The library must not receive a number that is not a verdict.
		verdict, message = NoOpinion, fmt.Sprintf("the authorizer returned the unknown verdict %d", verdict)
	}
	reasonText, reasonLen := text(reason)
	errorText, errorLen := text(message)
	C.gavel_reply_decision(reply, C.enum_GavelVerdict(verdict), reasonText, reasonLen, errorText, errorLen)
}

//export gavelGoFindNamespace
func gavelGoFindNamespace(context C.uintptr_t, name *C.uint8_t, length C.size_t, reply *C.GavelReply) {
	callbacks := callbacksOf(context)
	defer callbacks.caught()
	flat, err := callbacks.FindNamespace(textOf(name, length))
	callbacks.answer(reply, flat, err)
}

//export gavelGoFindParam
func gavelGoFindParam(context C.uintptr_t, version *C.uint8_t, versionLen C.size_t, kind *C.uint8_t, kindLen C.size_t,
	namespace *C.uint8_t, namespaceLen C.size_t, name *C.uint8_t, nameLen C.size_t, reply *C.GavelReply,
) {
	callbacks := callbacksOf(context)
	defer callbacks.caught()
	flat, err := callbacks.FindParam(textOf(version, versionLen), textOf(kind, kindLen), textOf(namespace, namespaceLen), textOf(name, nameLen))
	callbacks.answer(reply, flat, err)
}

//export gavelGoConvert
func gavelGoConvert(context C.uintptr_t, object *C.uint8_t, objectLen C.size_t, version *C.uint8_t, versionLen C.size_t,
	kind *C.uint8_t, kindLen C.size_t, reply *C.GavelReply,
) {
	// A call without callbacks has no context.
	if context == 0 {
		return
	}
	callbacks := callbacksOf(context)
	if callbacks.Convert == nil {
		return
	}
	defer callbacks.caught()
	flat, err := callbacks.Convert(bytesOf(object, objectLen), textOf(version, versionLen), textOf(kind, kindLen))
	answer(reply, flat, err)
}

func (c *Callbacks) answer(reply *C.GavelReply, flat []byte, err error) {
	if err != nil {
		c.failed = err
	}
	answer(reply, flat, err)
}

func answer(reply *C.GavelReply, flat []byte, err error) {
	if err != nil {
		bytes, n := text(err.Error())
		C.gavel_reply_failure(reply, bytes, n)
		return
	}
	if len(flat) > 0 {
		bytes, n := data(flat)
		C.gavel_reply_value(reply, bytes, n)
	}
}
